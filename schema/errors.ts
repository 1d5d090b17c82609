import type { InputIssue as IssueFacts, Refusal } from '../services/releases/outcome.ts'
import { builder } from './builder.ts'
import { Deletion } from './deletion.ts'
import { Permission } from './permission.ts'
import { Run } from './run.ts'

const ErrorCode = builder.enumType('ErrorCode', {
  description: 'Why something was refused, for programs.',
  values: {
    RELEASE_NOT_FOUND: { description: 'There is no such release.' },
    RELEASE_UNINSTALLING: { description: 'The release is being uninstalled.' },
    APPLY_IN_PROGRESS: { description: 'Another operation holds the lock of the release.' },
    PRECONDITION_FAILED: { description: 'The release is not the one, or not as, the caller expected.' },
    CONFLICT: { description: 'Somebody else changed the object in the same moment.' },
    HELM_FAILED: { description: 'helm ended with an error.' },
    FORBIDDEN: { description: 'The caller may not do this.' },
    READ_ONLY: { description: 'The gateway takes no mutations.' },
    CLUSTER_UNAVAILABLE: { description: 'The cluster did not answer, or not in a way that can be trusted.' },
    INVALID_INPUT: { description: 'The input makes no sense.' },
    PLAN_NOT_FOUND: { description: 'There is no composed plan with this hash.' },
    REVISION_NOT_FOUND: { description: 'There is no such revision.' },
    EXTERNAL_RELEASE: { description: 'Swiss did not make this release, so it does not change it.' },
    SCALER_ENABLED: { description: "The chart's own scaler is on." },
    RATE_LIMITED: { description: 'Too many requests.' },
    SLO_UNAVAILABLE: { description: 'The SLO service did not answer.' },
  },
})

type Code = typeof ErrorCode.$inferType

const CODES: Record<Refusal['kind'], Code> = {
  ReleaseNotFound: 'RELEASE_NOT_FOUND',
  ApplyInProgress: 'APPLY_IN_PROGRESS',
  PreconditionFailed: 'PRECONDITION_FAILED',
  Conflict: 'CONFLICT',
  HelmFailed: 'HELM_FAILED',
  Forbidden: 'FORBIDDEN',
  RateLimited: 'RATE_LIMITED',
  ReadOnly: 'READ_ONLY',
  ClusterUnavailable: 'CLUSTER_UNAVAILABLE',
  InvalidInput: 'INVALID_INPUT',
  ReleaseUninstalling: 'RELEASE_UNINSTALLING',
  PlanNotFound: 'PLAN_NOT_FOUND',
  RevisionNotFound: 'REVISION_NOT_FOUND',
  ExternalRelease: 'EXTERNAL_RELEASE',
  ScalerEnabled: 'SCALER_ENABLED',
  SloUnavailable: 'SLO_UNAVAILABLE',
}

/** Refusals after which the very same request may succeed later. */
const RETRYABLE: ReadonlySet<Refusal['kind']> = new Set([
  'ApplyInProgress',
  'ReleaseUninstalling',
  'Conflict',
  'RateLimited',
])

/** True when the very same request may succeed later; of the cluster and the SLO service only their own failure can say. */
const isRetryable = (refusal: Refusal): boolean =>
  'retryable' in refusal ? refusal.retryable : RETRYABLE.has(refusal.kind)

/** The name of the type that shows a refusal. */
export const errorTypeName = (kind: Refusal['kind']): `${Refusal['kind']}Error` => `${kind}Error`

export const UserError = builder.interfaceRef<Refusal>('UserError')

UserError.implement({
  description: 'What a client may show and act on; every refusal implements it.',
  fields: (t) => ({
    message: t.exposeString('message', { description: 'One sentence: what happened, and what to do.' }),
    code: t.field({ type: ErrorCode, description: 'For programs.', resolve: ({ kind }) => CODES[kind] }),
    retryable: t.boolean({
      description: 'True when the very same request may succeed later.',
      resolve: isRetryable,
    }),
  }),
})

const refusal = <Kind extends Refusal['kind']>(kind: Kind) =>
  builder.objectRef<Extract<Refusal, { kind: Kind }>>(errorTypeName(kind))

export const ReleaseNotFoundError = refusal('ReleaseNotFound').implement({
  description: 'There is no release of that name: no plan, no LLMService and no helm record.',
  interfaces: [UserError],
  fields: (t) => ({
    namespace: t.exposeString('namespace', { description: 'The namespace that was asked for.' }),
    name: t.exposeString('name', { description: 'The name that was asked for.' }),
  }),
})

export const ApplyInProgressError = refusal('ApplyInProgress').implement({
  description: 'An apply, a rollback or the autoscaler holds the lock of the release. Nothing was changed.',
  interfaces: [UserError],
  fields: (t) => ({
    holder: t.exposeString('holder', {
      nullable: true,
      description: 'Who holds the lock, when that is known.',
    }),
    since: t.expose('since', { type: 'DateTime', nullable: true, description: 'Since when it is held.' }),
  }),
})

export const PreconditionFailedError = refusal('PreconditionFailed').implement({
  description: 'The release is not the one, or not as, the caller expected. Nothing was changed.',
  interfaces: [UserError],
  fields: (t) => ({
    expectedRevision: t.exposeInt('expectedRevision', {
      nullable: true,
      description: 'The revision the caller gave.',
    }),
    currentRevision: t.exposeInt('currentRevision', {
      nullable: true,
      description: 'The live revision; null when there is none.',
    }),
    expectedUid: t.exposeID('expectedUid', { nullable: true, description: 'The uid the caller gave.' }),
    currentUid: t.exposeID('currentUid', {
      nullable: true,
      description: 'The uid of the object there is now; null when there is none.',
    }),
  }),
})

export const ConflictError = refusal('Conflict').implement({
  description: 'The object changed again and again while it was to be written. Nothing was changed.',
  interfaces: [UserError],
})

export const HelmFailedError = refusal('HelmFailed').implement({
  description: 'helm ended with an error; the plan and its archives are kept.',
  interfaces: [UserError],
  fields: (t) => ({
    output: t.exposeString('output', { description: 'What helm wrote; bounded text.' }),
    exitCode: t.exposeInt('exitCode', {
      nullable: true,
      description: 'Exit code; null when helm was killed.',
    }),
    run: t.expose('run', { type: Run, nullable: true, description: 'The run in the audit log.' }),
  }),
})

export const ForbiddenError = refusal('Forbidden').implement({
  description: 'The caller may not do this; it is about the caller, not about the gateway.',
  interfaces: [UserError],
  fields: (t) => ({
    permission: t.expose('permission', { type: Permission, description: 'The permission that is missing.' }),
  }),
})

export const RateLimitedError = refusal('RateLimited').implement({
  description: 'The caller has sent too many requests. Nothing was changed.',
  interfaces: [UserError],
  fields: (t) => ({
    retryAfterSeconds: t.exposeInt('retryAfterSeconds', {
      description: 'Seconds to wait before the next try.',
    }),
  }),
})

export const ReadOnlyError = refusal('ReadOnly').implement({
  description: 'The gateway takes no mutations. Nothing was looked up or changed.',
  interfaces: [UserError],
})

export const ClusterUnavailableError = refusal('ClusterUnavailable').implement({
  description:
    'A live read or write failed, or the gateway itself is not allowed to do it. What could not be looked up is never taken for gone.',
  interfaces: [UserError],
})

const InputIssue = builder.objectRef<IssueFacts>('InputIssue').implement({
  description: 'One thing that is wrong with the input.',
  fields: (t) => ({
    path: t.exposeStringList('path', {
      description: 'Where it is: names of arguments and fields, outermost first.',
    }),
    message: t.exposeString('message', { description: 'What is wrong, for people.' }),
  }),
})

export const InvalidInputError = refusal('InvalidInput').implement({
  description: 'The input makes no sense. Nothing was looked up or changed.',
  interfaces: [UserError],
  fields: (t) => ({
    issues: t.expose('issues', { type: [InputIssue], description: 'Everything that is wrong with it.' }),
  }),
})

export const ReleaseUninstallingError = refusal('ReleaseUninstalling').implement({
  description:
    'The release is being uninstalled; nothing can be changed, and nothing installed under its name, until it is gone.',
  interfaces: [UserError],
  fields: (t) => ({
    deletion: t.field({
      type: Deletion,
      nullable: true,
      description: 'How its uninstall stands.',
      resolve: ({ row }) => row?.deletion ?? null,
    }),
  }),
})

export const PlanNotFoundError = refusal('PlanNotFound').implement({
  description: 'There is no composed plan with this hash: it was never composed, or it has expired.',
  interfaces: [UserError],
  fields: (t) => ({
    planHash: t.exposeString('planHash', { description: 'The hash that was asked for.' }),
  }),
})

export const RevisionNotFoundError = refusal('RevisionNotFound').implement({
  description: 'There is no archived plan of this revision, so it cannot be brought back.',
  interfaces: [UserError],
  fields: (t) => ({
    revision: t.exposeInt('revision', { description: 'The revision that was asked for.' }),
  }),
})

export const ExternalReleaseError = refusal('ExternalRelease').implement({
  description: 'Swiss did not make this release: it can be read and uninstalled, and is not changed.',
  interfaces: [UserError],
})

export const ScalerEnabledError = refusal('ScalerEnabled').implement({
  description: "The chart's own scaler is on, so the number of replicas is not set from here.",
  interfaces: [UserError],
})

export const SloUnavailableError = refusal('SloUnavailable').implement({
  description: 'The SLO service did not answer, is not ready, or cannot be asked.',
  interfaces: [UserError],
})
