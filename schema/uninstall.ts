import type { UninstallAccepted, UninstallRefusal, UninstallRequest } from '../services/releases/outcome.ts'
import { builder } from './builder.ts'
import { Deployment } from './deployment.ts'
import {
  ApplyInProgressError,
  ClusterUnavailableError,
  ConflictError,
  errorTypeName,
  ForbiddenError,
  HelmFailedError,
  InvalidInputError,
  PreconditionFailedError,
  RateLimitedError,
  ReadOnlyError,
  ReleaseNotFoundError,
} from './errors.ts'
import { Run } from './run.ts'

const UninstallWait = builder.enumType('UninstallWait', {
  description: 'When an uninstall answers. It goes on in any case, whether or not somebody waits.',
  values: {
    ACCEPTED: { description: 'Once the mark is durable.' },
    HELM: { description: 'When helm has returned; the same as ACCEPTED for an LLMService.' },
    GONE: { description: 'When the release has left the list, or the timeout is over.' },
  } satisfies Record<UninstallRequest['waitFor'], { description: string }>,
})

export const UninstallReleaseInput = builder.inputType('UninstallReleaseInput', {
  description: 'Which release to take away, on what condition, and how long to wait for it.',
  fields: (t) => ({
    namespace: t.string({ required: true, description: 'Namespace of the release.' }),
    name: t.string({ required: true, description: 'Name of the release.' }),
    expectedRevision: t.int({ description: 'Refuse unless the live revision is this one.' }),
    expectedUid: t.id({ description: 'Refuse unless the object is still the one the caller looked at.' }),
    note: t.string({
      description: 'Kept with the uninstall and in the audit log; 1,024 characters at most.',
    }),
    waitFor: t.field({
      type: UninstallWait,
      required: true,
      defaultValue: 'ACCEPTED',
      description: 'When to answer. HelmFailedError needs HELM or GONE.',
    }),
    timeoutSeconds: t.int({
      required: true,
      defaultValue: 900,
      description:
        'Seconds to wait at most, 0 to 3600; then the answer is the payload as it stands, not an error.',
    }),
  }),
})

/** An accepted uninstall with its feed position as a cursor. */
type UninstallPayload = Omit<UninstallAccepted, 'position'> & { cursor: string }

const UninstallReleasePayload = builder.objectRef<UninstallPayload>('UninstallReleasePayload').implement({
  description:
    'The uninstall is accepted: the release stays listed as UNINSTALLING until its last pod is gone.',
  fields: (t) => ({
    namespace: t.exposeString('namespace', { description: 'Namespace of the release.' }),
    name: t.exposeString('name', { description: 'Name of the release.' }),
    alreadyInProgress: t.exposeBoolean('alreadyInProgress', {
      description: 'True when it was being uninstalled before this request.',
    }),
    output: t.exposeString('output', {
      description: 'What helm wrote, as far as was waited for; or `uninstall already in progress`.',
    }),
    deployment: t.expose('row', {
      type: Deployment,
      nullable: true,
      description: 'The row as the list has it now; null for a release without a row, or once it is gone.',
    }),
    run: t.expose('run', { type: Run, nullable: true, description: 'The run in the audit log.' }),
    cursor: t.expose('cursor', {
      type: 'Cursor',
      description:
        "Position just before the mark's own event: with it as `since` nothing of this uninstall is missed.",
    }),
  }),
})

export const UninstallReleaseResult = builder.unionType('UninstallReleaseResult', {
  description:
    'The uninstall, or why there is none. May grow: select `... on UserError` for what is not named.',
  types: [
    UninstallReleasePayload,
    ReleaseNotFoundError,
    ApplyInProgressError,
    PreconditionFailedError,
    ConflictError,
    HelmFailedError,
    ForbiddenError,
    RateLimitedError,
    ReadOnlyError,
    ClusterUnavailableError,
    InvalidInputError,
  ],
  resolveType: (result: UninstallPayload | UninstallRefusal) =>
    result.kind === 'Uninstall' ? 'UninstallReleasePayload' : errorTypeName(result.kind),
})
