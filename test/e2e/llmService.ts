// LLMServices as people make them, and the sandbox's operator as a plain client of this API server.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { KubeObject } from './kube.ts'
import { type Managed, tail } from './processes.ts'
import type { StoryContext } from './story.ts'
import { Fatal, until } from './wait.ts'

const OPERATOR = join(import.meta.dirname, '../../dist/sandbox/operator/main.js')

/** Runs the releases of the LLMServices in this namespace; resolves when it has seen what there is. */
export async function startOperator(
  context: StoryContext,
  name: string,
  namespace: string,
  ...flags: string[]
): Promise<Managed> {
  if (!existsSync(OPERATOR)) throw new Error(`${OPERATOR} is not there: run \`npm run build\` first`)
  const { kubeconfig } = context.cluster
  const operator = context.start(name, process.execPath, [
    '--enable-source-maps',
    OPERATOR,
    ...['--kubeconfig', kubeconfig],
    ...['--namespace', namespace],
    ...flags,
  ])
  await until('the operator is ready', 60_000, () => {
    if (operator.ended() !== null) throw new Fatal(`the operator has ended (${operator.ended()})`)
    return tail(operator.log, 100).includes('{"server"') ? true : undefined
  })
  return operator
}

export const llmServicesPath = (namespace: string): string =>
  `/apis/serving.modelsphere.dev/v1alpha1/namespaces/${namespace}/llmservices`

export function makeLlmService(
  { cluster }: StoryContext,
  namespace: string,
  name: string,
  metadata: object = {},
): Promise<KubeObject> {
  return cluster.kube.create(llmServicesPath(namespace), {
    apiVersion: 'serving.modelsphere.dev/v1alpha1',
    kind: 'LLMService',
    metadata: {
      name,
      annotations: { 'serving.modelsphere.dev/route-settle': '1s' },
      ...metadata,
    },
    spec: {
      chart: { name: 'vllm', repo: 'https://charts.invalid', version: '0.4.0' },
      layers: [{ name: 'catalog', values: { replicaCount: 2 } }],
      model: { name: 'none', version: '1', variant: 'default', hf: 'none/none', engine: 'vllm' },
    },
  })
}
