import type {
  PodCounts as Counts,
  Drift as DriftFacts,
  DriftKind as DriftName,
  Row,
} from '../services/deployments/row.ts'
import { Autoscale } from './autoscale.ts'
import { builder } from './builder.ts'
import { CanaryRelationship } from './canary.ts'
import { Deletion } from './deletion.ts'
import { LastOperation } from './lastOperation.ts'
import { Node } from './node.ts'
import { Permission } from './permission.ts'
import { Backend, DeploymentPhase } from './phase.ts'
import { Chart, PlanSource } from './plan.ts'

const DriftKind = builder.enumType('DriftKind', {
  description:
    'In what way a release is not as it should be. Where several hold, the first in the order of the contract is shown.',
  values: {
    UNREADABLE: { description: 'The plan or its status cannot be read.' },
    PLAN_WITHOUT_RELEASE: { description: 'There is a plan, but helm has no release of that name.' },
    LAST_UNINSTALL_FAILED: { description: 'The last operation was an uninstall, and it failed.' },
    LAST_APPLY_FAILED: { description: 'The last operation was anything else, and it failed.' },
    APPLY_UNFINISHED: { description: 'An apply was begun and nobody is working on it any more.' },
    CATALOG_MOVED: { description: 'The catalog has a newer entry than the one the plan was made from.' },
    CLEANUP_UNFINISHED: { description: 'A plan of an earlier helm release is left beside the LLMService.' },
    UNINSTALL_IN_PROGRESS: { description: 'It is being uninstalled; the message names the stage.' },
  } satisfies Record<DriftName, { description: string }>,
})

const Drift = builder.objectRef<DriftFacts>('Drift').implement({
  description: 'How a release differs from what it should be.',
  fields: (t) => ({
    kind: t.expose('kind', { type: DriftKind, description: 'For programs.' }),
    message: t.exposeString('message', { description: 'For people: one sentence.' }),
  }),
})

const PodCounts = builder.objectRef<Counts>('PodCounts').implement({
  description:
    'Pods of a release at the moment of the read: those labelled `app.kubernetes.io/instance=<release>` or `app=<release>-<chart>`.',
  fields: (t) => ({
    total: t.exposeInt('total', { description: 'Pods that exist.' }),
    ready: t.exposeInt('ready', { description: 'Pods whose Ready condition is true.' }),
    terminating: t.exposeInt('terminating', { description: 'Pods that were asked to go and still exist.' }),
    counting: t.exposeInt('counting', {
      description: 'Pods that still hold an uninstall back; 0 while nothing is uninstalled.',
    }),
    gpus: t.exposeInt('gpus', {
      description:
        'GPUs (limits of `*/gpu` resources, MIG slices too) of pods that exist; while uninstalling, of those that count.',
    }),
  }),
})

export const Deployment = builder.objectRef<Row>('Deployment')

Deployment.implement({
  description: 'A model that runs as a release, with its live phase; not a Kubernetes Deployment.',
  interfaces: [Node],
  fields: (t) => ({
    namespace: t.exposeString('namespace', { description: 'Namespace of the release.' }),
    name: t.exposeString('name', { description: 'Name of the release, unique in its namespace.' }),
    uid: t.exposeID('uid', {
      nullable: true,
      description:
        'uid of the LLMService, or of the plan ConfigMap; null only when that has just been taken away.',
    }),
    backend: t.expose('backend', { type: Backend, description: 'What runs it.' }),
    phase: t.expose('phase', { type: DeploymentPhase, description: 'How it stands right now.' }),
    phaseReason: t.exposeString('phaseReason', {
      nullable: true,
      description: 'Why the phase is what it is, when that is not plain: an unreadable plan, a failed apply.',
    }),
    revision: t.exposeInt('revision', {
      nullable: true,
      description:
        "Live revision, for `expectedRevision`: helm's newest record, or the LLMService's `status.helm.revision`. Null when there is none; never 0.",
    }),
    helmStatus: t.exposeString('helmStatus', {
      nullable: true,
      description: "The status label of helm's newest record, `deployed` say.",
    }),
    chart: t.expose('chart', {
      type: Chart,
      nullable: true,
      description: 'Chart of the plan or the LLMService.',
    }),
    source: t.expose('source', { type: PlanSource, nullable: true, description: 'Catalog entry and model.' }),
    updatedAt: t.expose('updatedAt', {
      type: 'DateTime',
      nullable: true,
      description: "`updatedAt` of the plan's status.yaml; an LLMService's newest condition or history time.",
    }),
    lastOperation: t.expose('lastOperation', {
      type: LastOperation,
      nullable: true,
      description: 'What was done to it last, as the cluster says; null where that does not tell.',
    }),
    viewerCan: t.field({
      type: [Permission],
      description: 'What the caller may do with it; for buttons.',
      resolve: (row, _args, context) => context.can(row.namespace),
    }),
    drift: t.expose('drift', {
      type: Drift,
      nullable: true,
      description: 'How it differs from what it should be; null when it does not.',
    }),
    external: t.exposeBoolean('external', {
      description:
        'True for an LLMService that Swiss did not make: it can be read and uninstalled, not changed.',
    }),
    cleanupPending: t.exposeBoolean('cleanupPending', {
      description: 'True when a plan of an earlier helm release is left beside the LLMService.',
    }),
    pods: t.expose('pods', { type: PodCounts, description: 'Its pods, counted at the moment of the read.' }),
    deletion: t.expose('deletion', {
      type: Deletion,
      nullable: true,
      description: 'How its teardown stands; set while it is being uninstalled.',
    }),
    canary: t.expose('canary', {
      type: CanaryRelationship,
      nullable: true,
      description:
        'Whom it belongs to in a canary, read from the metadata of its LLMService; null for helm releases.',
    }),
    autoscale: t.expose('autoscale', {
      type: Autoscale,
      nullable: true,
      description:
        "The policy of the prefill and decode autoscaler and its last decision, from `swiss-autoscale-<release>`; null without one. A chart's own scaler is not shown here.",
    }),
  }),
})
