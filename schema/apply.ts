import type { Applied, ApplyRefusal } from '../services/releases/outcome.ts'
import { builder } from './builder.ts'
import { Deployment } from './deployment.ts'
import {
  ApplyInProgressError,
  ClusterUnavailableError,
  ConflictError,
  ExternalReleaseError,
  errorTypeName,
  ForbiddenError,
  HelmFailedError,
  InvalidInputError,
  PlanNotFoundError,
  PreconditionFailedError,
  RateLimitedError,
  ReadOnlyError,
  ReleaseNotFoundError,
  ReleaseUninstallingError,
  RevisionNotFoundError,
  ScalerEnabledError,
} from './errors.ts'
import { Run } from './run.ts'

const NOTE = 'Kept with the change and in the audit log; 1,024 characters at most.'
const EXPECTED = 'Refuse unless the live revision is this one.'

export const ApplyPlanInput = builder.inputType('ApplyPlanInput', {
  description: 'Which composed plan to apply to which release, and on what condition.',
  fields: (t) => ({
    planHash: t.string({
      required: true,
      description: 'Hash of a plan that you have composed for this release within the last hour.',
    }),
    namespace: t.string({ required: true, description: 'Namespace of the release.' }),
    name: t.string({ required: true, description: 'Name of the release.' }),
    expectedRevision: t.int({ description: EXPECTED }),
    note: t.string({ description: NOTE }),
    forceConflicts: t.boolean({
      required: true,
      defaultValue: false,
      description: 'Let helm take over fields that others own; helm 4 only.',
    }),
  }),
})

export const RollbackReleaseInput = builder.inputType('RollbackReleaseInput', {
  description: 'Which release to bring back to which revision, and on what condition.',
  fields: (t) => ({
    namespace: t.string({ required: true, description: 'Namespace of the release.' }),
    name: t.string({ required: true, description: 'Name of the release.' }),
    toRevision: t.int({
      required: true,
      description: 'An earlier revision; `Release.revisions` has those that can be brought back.',
    }),
    expectedRevision: t.int({ description: EXPECTED }),
    note: t.string({ description: NOTE }),
  }),
})

/** An accepted change with its feed position as a cursor. */
type ApplyPayload = Omit<Applied, 'position'> & { cursor: string }

const ApplyPlanPayload = builder.objectRef<ApplyPayload>('ApplyPlanPayload').implement({
  description:
    'The change is made: helm has returned, or the LLMService is written and its operator goes on with it.',
  fields: (t) => ({
    deployment: t.expose('row', {
      type: Deployment,
      nullable: true,
      description: 'The row as the list has it now.',
    }),
    run: t.expose('run', {
      type: Run,
      nullable: true,
      description: 'The run in the audit log; its `changed` is false when nothing differed from what runs.',
    }),
    revision: t.exposeInt('revision', {
      nullable: true,
      description: 'The live revision now; of an LLMService the one that its operator has reached.',
    }),
    output: t.exposeString('output', { description: 'What helm wrote; bounded text.' }),
    cursor: t.expose('cursor', {
      type: 'Cursor',
      description:
        "Position just before the change's own first event: with it as `since` nothing of it is missed.",
    }),
  }),
})

export const ApplyPlanResult = builder.unionType('ApplyPlanResult', {
  description: 'The change, or why there is none. May grow: select `... on UserError` for what is not named.',
  types: [
    ApplyPlanPayload,
    PlanNotFoundError,
    RevisionNotFoundError,
    ExternalReleaseError,
    ScalerEnabledError,
    RateLimitedError,
    ReleaseNotFoundError,
    ReleaseUninstallingError,
    ApplyInProgressError,
    PreconditionFailedError,
    ConflictError,
    HelmFailedError,
    ForbiddenError,
    ReadOnlyError,
    ClusterUnavailableError,
    InvalidInputError,
  ],
  resolveType: (result: ApplyPayload | ApplyRefusal) =>
    result.kind === 'Apply' ? 'ApplyPlanPayload' : errorTypeName(result.kind),
})
