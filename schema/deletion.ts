import type {
  DeletionBlocker as BlockerFacts,
  DeletionBlockerKind as BlockerKind,
  Deletion as DeletionFacts,
  LeftBehind as LeftBehindFacts,
  DeletionPod as PodFacts,
} from '../services/deployments/row.ts'
import type { PodReason } from '../services/pods/counting.ts'
import { builder } from './builder.ts'

const DeletionPodReason = builder.enumType('DeletionPodReason', {
  description: 'Why a pod counts, or does not. Grace is its own deletion grace period, else 30 s.',
  values: {
    RUNNING: { description: 'Counts: nobody has asked it to go yet.' },
    FINISHED: { description: 'Does not count: it has ended by itself (phase Succeeded or Failed).' },
    MIRROR: { description: 'Does not count: the mirror of a static pod, which belongs to its node.' },
    WITHIN_GRACE: { description: 'Counts: it is terminating and its grace is not over.' },
    NODE_LOST: { description: 'Does not count: past its grace on a node that is not ready or missing.' },
    PAST_DEADLINE: { description: 'Does not count: five minutes past its grace, whatever its node.' },
    TERMINATING: {
      description: 'Counts: past its grace, but its node is alive and five minutes are not over.',
    },
  } satisfies Record<PodReason, { description: string }>,
})

const DeletionBlockerKind = builder.enumType('DeletionBlockerKind', {
  description: 'What kind of thing holds a deletion back.',
  values: {
    POD: { description: 'A pod that counts.' },
    FINALIZER: { description: 'A finalizer that keeps an object.' },
    HELM: { description: 'helm is still running, or its record is still there.' },
    LOOKUP_FAILED: { description: 'A live lookup failed, so nothing is taken for gone; it is tried again.' },
    CLEANUP_FAILED: { description: 'An object could not be deleted; it is tried again.' },
  } satisfies Record<BlockerKind, { description: string }>,
})

const DeletionBlocker = builder.objectRef<BlockerFacts>('DeletionBlocker').implement({
  description: 'One thing that holds a deletion back right now.',
  fields: (t) => ({
    kind: t.expose('kind', { type: DeletionBlockerKind, description: 'What kind of thing it is.' }),
    name: t.exposeString('name', { description: 'Its name.' }),
    message: t.exposeString('message', { description: 'One sentence for a person.' }),
    since: t.expose('since', {
      type: 'DateTime',
      nullable: true,
      description: 'Since when it holds the deletion back; null when that is not known.',
    }),
  }),
})

const LeftBehind = builder.objectRef<LeftBehindFacts>('LeftBehind').implement({
  description: 'Something that stays in the cluster because nobody deletes it.',
  fields: (t) => ({
    kind: t.exposeString('kind', { description: 'Kubernetes kind.' }),
    name: t.exposeString('name', { description: 'Name, in the namespace of the release.' }),
    reason: t.exposeString('reason', { description: 'Why it stays.' }),
  }),
})

const DeletionPod = builder.objectRef<PodFacts>('DeletionPod').implement({
  description:
    'A pod of a deletion. From our own count for a helm release; from the `status.deletion.pods` of the operator otherwise, where `counts` and `reason` stay null.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name of the pod.' }),
    phase: t.exposeString('phase', {
      nullable: true,
      description: 'Phase of the pod, as Kubernetes says it.',
    }),
    node: t.exposeString('node', { nullable: true, description: 'Node it runs on; null while it has none.' }),
    gpus: t.exposeInt('gpus', { nullable: true, description: 'GPUs in the limits of its containers.' }),
    message: t.exposeString('message', {
      nullable: true,
      description: 'What the pod, a waiting container or the operator says.',
    }),
    counts: t.exposeBoolean('counts', {
      nullable: true,
      description: 'True when it holds the uninstall back.',
    }),
    reason: t.expose('reason', {
      type: DeletionPodReason,
      nullable: true,
      description: 'Why it counts, or does not.',
    }),
    deletionTimestamp: t.expose('deletionTimestamp', {
      type: 'DateTime',
      nullable: true,
      description: 'Set once the pod was asked to go: the moment at which its grace was to end.',
    }),
    ignoredAt: t.expose('ignoredAt', {
      type: 'DateTime',
      nullable: true,
      description:
        'The last moment at which this pod still counts, as its node now stands; null when time alone ends nothing.',
    }),
  }),
})

export const Deletion = builder.objectRef<DeletionFacts>('Deletion').implement({
  description:
    'How the teardown of a release stands. For an LLMService the fields of `status.deletion`, passed through; what the operator does not say is null.',
  fields: (t) => ({
    stage: t.exposeString('stage', {
      nullable: true,
      description:
        "helm: MARKED, HELM_UNINSTALL, PODS_TERMINATING or CLEANUP. LLMService: the operator's own word.",
    }),
    outcome: t.exposeString('outcome', {
      nullable: true,
      description: "The operator's own word for how it ended.",
    }),
    podsRemaining: t.exposeInt('podsRemaining', {
      nullable: true,
      description: 'Pods that still hold it back.',
    }),
    pods: t.expose('pods', {
      type: [DeletionPod],
      nullable: true,
      description: 'Every matching pod by name, also those that no longer count; null when nobody counts.',
    }),
    startedAt: t.expose('startedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was asked for.',
    }),
    deadline: t.expose('deadline', {
      type: 'DateTime',
      nullable: true,
      description: 'When the wait for pods ends at the latest.',
    }),
    message: t.exposeString('message', { nullable: true, description: 'What is going on, for a person.' }),
    forceDeleted: t.exposeBoolean('forceDeleted', {
      nullable: true,
      description: 'True when the operator force-deleted pods. Swiss itself never does.',
    }),
    requestedBy: t.exposeString('requestedBy', {
      nullable: true,
      description: 'Name of the caller who asked for it; null when nobody asked Swiss.',
    }),
    note: t.exposeString('note', { nullable: true, description: 'The note given with the request.' }),
    blockers: t.expose('blockers', {
      type: [DeletionBlocker],
      description: 'What holds the deletion back right now: pods, finalizers, a failing lookup.',
    }),
    leftBehind: t.expose('leftBehind', {
      type: [LeftBehind],
      description:
        'What nobody will delete: pods that no longer count, volumes of the release, objects helm keeps. Swiss deletes none of it.',
    }),
  }),
})
