import type { ClusterInfo } from '../services/releases/detailTypes.ts'
import { builder } from './builder.ts'

export const Cluster = builder.objectRef<ClusterInfo>('Cluster').implement({
  description: 'The cluster behind this gateway, and the gateway itself.',
  fields: (t) => ({
    name: t.exposeString('name', {
      nullable: true,
      description: "From `--cluster-name`, else the kubeconfig's context; null when neither names it.",
    }),
    kubernetesVersion: t.exposeString('kubernetesVersion', {
      nullable: true,
      description: 'Version of the API server; null while it has not answered.',
    }),
    gatewayVersion: t.exposeString('gatewayVersion', { description: 'Version of this gateway.' }),
    helmVersion: t.exposeString('helmVersion', {
      nullable: true,
      description:
        'Version of the helm the gateway runs; null when there is none, then helm releases can only be read.',
    }),
    readOnly: t.exposeBoolean('readOnly', { description: 'True when every mutation answers ReadOnlyError.' }),
    llmServicesServed: t.exposeBoolean('llmServicesServed', {
      description: 'True when the cluster serves LLMServices and the gateway may read them.',
    }),
    warnings: t.exposeStringList('warnings', {
      description: 'What is wrong but does not stop the gateway, one sentence each.',
    }),
    leader: t.exposeString('leader', {
      nullable: true,
      description: 'Identity of the gateway that runs the loops; null while none does.',
    }),
  }),
})
