import { expect, test } from 'vitest'
import type { GatewayContext } from '../../../resolvers/context.ts'
import { runId } from '../../../schema/nodeId.ts'
import type {
  UninstallOutcome,
  UninstallRefusal,
  UninstallRequest,
} from '../../../services/releases/outcome.ts'
import { decodeCursor } from '../../../subscriptions/cursor.ts'
import { ask } from './ask.ts'
import { fakeContext, row, run } from './fakes.ts'

const document = `mutation ($input: UninstallReleaseInput!) { uninstallRelease(input: $input) {
  __typename
  ... on UninstallReleasePayload { namespace name alreadyInProgress output cursor deployment { phase } run { id } }
  ... on UserError { message code retryable }
  ... on ReleaseNotFoundError { namespace name }
  ... on ApplyInProgressError { holder since }
  ... on PreconditionFailedError { expectedRevision currentRevision expectedUid currentUid }
  ... on HelmFailedError { output exitCode run { id } }
  ... on ForbiddenError { permission }
  ... on RateLimitedError { retryAfterSeconds }
  ... on InvalidInputError { issues { path message } }
} }`

const accepted: UninstallOutcome = {
  kind: 'Uninstall',
  namespace: 'team-a',
  name: 'chat',
  alreadyInProgress: false,
  output: '',
  row: row({ phase: 'UNINSTALLING' }),
  run: run(),
  position: 41,
}

function answering(outcome: UninstallOutcome, part: Partial<GatewayContext> = {}) {
  const asked: { request: UninstallRequest; actor: string }[] = []
  const uninstall: GatewayContext['uninstaller']['uninstall'] = async (request, actor) => {
    asked.push({ request, actor: actor.name })
    return outcome
  }
  return { asked, context: fakeContext({ uninstaller: { uninstall }, ...part }) }
}

const send = (context: GatewayContext, input: object) => ask(document, context, { input })
const chat = { namespace: 'team-a', name: 'chat' }

test('an accepted uninstall answers with row, run and the position before its mark', async () => {
  const { context } = answering(accepted)
  const { data, errors } = await send(context, chat)
  expect(errors).toBeUndefined()
  expect(data.uninstallRelease).toEqual({
    __typename: 'UninstallReleasePayload',
    ...chat,
    alreadyInProgress: false,
    output: '',
    cursor: expect.any(String),
    deployment: { phase: 'UNINSTALLING' },
    run: { id: runId({ id: 'run-1' }) },
  })
  expect(decodeCursor(data.uninstallRelease.cursor)).toEqual({ epoch: 'e1', position: 41 })
})

test('a release without a row has no deployment in the answer', async () => {
  const { context } = answering({ ...accepted, row: null, run: null })
  const { data } = await send(context, chat)
  expect(data.uninstallRelease).toMatchObject({ deployment: null, run: null })
})

test('the request reaches the service whole, with its defaults, on behalf of the caller', async () => {
  const { asked, context } = answering(accepted)
  await send(context, chat)
  await send(context, {
    ...chat,
    expectedRevision: 3,
    expectedUid: 'uid-1',
    note: 'n',
    waitFor: 'GONE',
    timeoutSeconds: 0,
  })
  await send(context, { ...chat, expectedRevision: null, expectedUid: null, note: null })
  const plain = {
    ...chat,
    expectedRevision: null,
    expectedUid: null,
    note: null,
    waitFor: 'ACCEPTED',
    timeoutSeconds: 900,
  }
  expect(asked).toEqual([
    { request: plain, actor: 'user-a' },
    {
      request: {
        ...chat,
        expectedRevision: 3,
        expectedUid: 'uid-1',
        note: 'n',
        waitFor: 'GONE',
        timeoutSeconds: 0,
      },
      actor: 'user-a',
    },
    { request: plain, actor: 'user-a' },
  ])
})

const since = '2031-01-01T00:00:00Z'
const m = 'What happened; what to do.'
const refusals: [UninstallRefusal, { code: string; retryable: boolean } & Record<string, unknown>][] = [
  [
    { kind: 'ReleaseNotFound', message: m, ...chat },
    { code: 'RELEASE_NOT_FOUND', retryable: false, ...chat },
  ],
  [
    { kind: 'ApplyInProgress', message: m, holder: 'gateway-b', since },
    { code: 'APPLY_IN_PROGRESS', retryable: true, holder: 'gateway-b', since },
  ],
  [
    {
      kind: 'PreconditionFailed',
      message: m,
      expectedRevision: 2,
      currentRevision: 3,
      expectedUid: null,
      currentUid: 'uid-1',
    },
    {
      code: 'PRECONDITION_FAILED',
      retryable: false,
      expectedRevision: 2,
      currentRevision: 3,
      expectedUid: null,
      currentUid: 'uid-1',
    },
  ],
  [
    { kind: 'Conflict', message: m },
    { code: 'CONFLICT', retryable: true },
  ],
  [
    { kind: 'HelmFailed', message: m, output: 'Error: timed out', exitCode: 1, run: run() },
    {
      code: 'HELM_FAILED',
      retryable: false,
      output: 'Error: timed out',
      exitCode: 1,
      run: { id: runId({ id: 'run-1' }) },
    },
  ],
  [
    { kind: 'Forbidden', message: m, permission: 'UNINSTALL' },
    { code: 'FORBIDDEN', retryable: false, permission: 'UNINSTALL' },
  ],
  [
    { kind: 'RateLimited', message: m, retryAfterSeconds: 9 },
    { code: 'RATE_LIMITED', retryable: true, retryAfterSeconds: 9 },
  ],
  [
    { kind: 'ReadOnly', message: m },
    { code: 'READ_ONLY', retryable: false },
  ],
  [
    { kind: 'ClusterUnavailable', message: m, retryable: true },
    { code: 'CLUSTER_UNAVAILABLE', retryable: true },
  ],
  [
    { kind: 'ClusterUnavailable', message: m, retryable: false },
    { code: 'CLUSTER_UNAVAILABLE', retryable: false },
  ],
  [
    { kind: 'InvalidInput', message: m, issues: [{ path: ['a', 'b'], message: 'x' }] },
    { code: 'INVALID_INPUT', retryable: false, issues: [{ path: ['a', 'b'], message: 'x' }] },
  ],
]

test.each(refusals)('the refusal $kind is a typed result', async (refusal, shown) => {
  const answer = await send(answering(refusal).context, chat)
  expect(answer).toEqual({
    data: { uninstallRelease: { __typename: `${refusal.kind}Error`, message: m, ...shown } },
  })
})

test.each([
  [{ name: 'x'.repeat(400) }, 'name', 'must have at most 253 characters'],
  [{ namespace: 'x'.repeat(400) }, 'namespace', 'must have at most 63 characters'],
  [{ name: 'x/y' }, 'name', 'must be a DNS subdomain'],
  [{ namespace: 'Team A' }, 'namespace', 'must be a DNS label'],
  [{ expectedRevision: 0 }, 'expectedRevision', 'must be 1 or more'],
  [{ expectedUid: 'x'.repeat(400) }, 'expectedUid', 'must have at most 253 characters'],
  [{ note: 'x'.repeat(1025) }, 'note', 'must have at most 1024 characters'],
  [{ timeoutSeconds: -1 }, 'timeoutSeconds', 'must be between 0 and 3600'],
  [{ timeoutSeconds: 3601 }, 'timeoutSeconds', 'must be between 0 and 3600'],
])('the input %j is refused as a value, and the service is not asked', async (wrong, field, words) => {
  const { asked, context } = answering(accepted)
  const { data, errors } = await send(context, { ...chat, ...wrong })
  expect(errors).toBeUndefined()
  expect(data.uninstallRelease).toEqual({
    __typename: 'InvalidInputError',
    message: expect.stringMatching(`^input\\.${field} ${words}.*\\.$`),
    code: 'INVALID_INPUT',
    retryable: false,
    issues: [{ path: ['input', field], message: expect.stringContaining(words) }],
  })
  expect(asked).toEqual([])
})

test('everything that is wrong with the input is named', async () => {
  const { context } = answering(accepted)
  const { data } = await send(context, { namespace: '', name: '', timeoutSeconds: 4000 })
  const issues: { path: string[] }[] = data.uninstallRelease.issues
  expect(issues.map(({ path }) => path.join('.'))).toEqual([
    'input.namespace',
    'input.name',
    'input.timeoutSeconds',
  ])
})

test('the largest input that is allowed is taken', async () => {
  const { asked, context } = answering(accepted)
  await send(context, {
    namespace: 'n'.repeat(63),
    name: 'x'.repeat(253),
    note: 'n'.repeat(1024),
    timeoutSeconds: 3600,
  })
  expect(asked).toHaveLength(1)
})

test('a caller without the permission is refused, and the service is not asked', async () => {
  const { asked, context } = answering(accepted, { can: () => ['VIEW', 'DEPLOY'] })
  const { data } = await send(context, chat)
  expect(data.uninstallRelease).toMatchObject({
    __typename: 'ForbiddenError',
    code: 'FORBIDDEN',
    permission: 'UNINSTALL',
    message: expect.stringContaining('team-a'),
  })
  expect(asked).toEqual([])
})

test('a read-only gateway says so to a caller without the permission too', async () => {
  const readOnly = () => ({ ...fakeContext().cluster(), readOnly: true })
  const refusal: UninstallOutcome = { kind: 'ReadOnly', message: m }
  const { context } = answering(refusal, { can: () => [], cluster: readOnly })
  const { data } = await send(context, chat)
  expect(data.uninstallRelease).toMatchObject({ __typename: 'ReadOnlyError' })
})
