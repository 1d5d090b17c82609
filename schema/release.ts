import type { ReleaseRef } from '../services/deployments/row.ts'
import type { HelmDetail, PlanStatusDetail, ReleaseDetail } from '../services/releases/detailTypes.ts'
import { builder } from './builder.ts'
import { Deployment } from './deployment.ts'
import { LLMServiceStatus } from './llmService.ts'
import { DeploymentPhase } from './phase.ts'
import { Pod } from './pod.ts'
import { RunAction } from './run.ts'

/** helm's newest record, and whose it is: the chart is looked up by that. */
export const HelmRelease = builder.objectRef<HelmDetail & { ref: ReleaseRef }>('HelmRelease').implement({
  description: "helm's newest record of a release, from its labels.",
  fields: (t) => ({
    revision: t.exposeInt('revision', { nullable: true, description: 'Its revision.' }),
    status: t.exposeString('status', { nullable: true, description: 'Its status label, `deployed` say.' }),
    updatedAt: t.expose('updatedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When helm wrote it.',
    }),
  }),
})

const PlanStatus = builder.objectRef<PlanStatusDetail>('PlanStatus').implement({
  description: "How the last operation stands, from the plan's status.yaml.",
  fields: (t) => ({
    phase: t.expose('phase', { type: DeploymentPhase, description: 'Its phase.' }),
    action: t.expose('action', { type: RunAction, nullable: true, description: 'What the operation was.' }),
    revision: t.exposeInt('revision', { nullable: true, description: 'Revision it made, or was about.' }),
    startedAt: t.expose('startedAt', { type: 'DateTime', nullable: true, description: 'When it began.' }),
    updatedAt: t.expose('updatedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it last changed.',
    }),
    error: t.exposeString('error', { nullable: true, description: 'What went wrong; bounded text.' }),
    note: t.exposeString('note', { nullable: true, description: 'The note given with the request.' }),
    forced: t.exposeBoolean('forced', {
      nullable: true,
      description: 'True when conflicts were overridden.',
    }),
    actor: t.exposeString('actor', { nullable: true, description: 'Name of the caller.' }),
  }),
})

export const Release = builder.objectRef<ReleaseDetail>('Release').implement({
  description:
    'The detail of one release, whether it has a row or not. Not a Node: the row is the entity. From the watch caches, but for the fields that say they read live.',
  fields: (t) => ({
    namespace: t.exposeString('namespace', { description: 'Namespace of the release.' }),
    name: t.exposeString('name', { description: 'Name of the release.' }),
    deployment: t.expose('row', {
      type: Deployment,
      nullable: true,
      description: 'Its row in the list; null for a helm release that Swiss does not manage.',
    }),
    exists: t.exposeBoolean('exists', { description: 'True when helm has it, or the LLMService is there.' }),
    helm: t.field({
      type: HelmRelease,
      nullable: true,
      description: "helm's newest record; null when helm has none.",
      resolve: (detail) => detail.helm && { ...detail.helm, ref: detail },
    }),
    planStatus: t.expose('planStatus', {
      type: PlanStatus,
      nullable: true,
      description: 'How the last operation stands; null where there is no plan, or no status in it.',
    }),
    llmService: t.expose('llmService', {
      type: LLMServiceStatus,
      nullable: true,
      description: 'Its LLMService; null for helm releases.',
    }),
    pods: t.expose('pods', { type: [Pod], description: 'Matching pods by name.' }),
    warnings: t.exposeStringList('warnings', { description: 'What could not be read, one sentence each.' }),
  }),
})
