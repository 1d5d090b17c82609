/** What every audit log does, whatever holds it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { decodeRunCursor } from '../../../services/audit/cursor.ts'
import { memoryAudit } from '../../../services/audit/memoryAudit.ts'
import type { AuditLog, Run, RunFilter } from '../../../services/audit/run.ts'
import { sqliteAudit } from '../../../services/audit/sqliteAudit.ts'
import { FakeClock } from '../support/fakeClock.ts'
import { failed, quiet, run, succeeded } from './runs.ts'

const folder = mkdtempSync(join(tmpdir(), 'swiss-audit-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let files = 0
const opened: AuditLog[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map((log) => log.close()))
})

const makers: Record<string, () => AuditLog> = {
  memory: memoryAudit,
  sqlite: () =>
    sqliteAudit({ path: join(folder, `audit-${files++}.db`), clock: new FakeClock(), logger: quiet }),
}
const ids = (page: { edges: { run: Run }[] }) => page.edges.map((edge) => edge.run.id)

describe.each(Object.entries(makers))('an audit log in %s', (_name, make) => {
  const fresh = () => {
    const log = make()
    opened.push(log)
    return log
  }

  test('opens a run and closes it: one row, with all it was given', async () => {
    const log = fresh()
    log.start(run('r1', { note: 'yes — "no"' }))
    expect(await log.get('r1')).toEqual(run('r1', { note: 'yes — "no"' }))
    expect(await log.open()).toEqual([run('r1', { note: 'yes — "no"' })])
    log.finish(run('r1'), succeeded())
    expect(await log.get('r1')).toEqual(run('r1', { note: 'yes — "no"', ...succeeded() }))
    expect(await log.open()).toEqual([])
    expect(ids(await log.page({ first: 10 }))).toEqual(['r1'])
    expect(await log.get('r2')).toBeNull()
  })

  test('says each thing once: a second start and a second end change nothing', async () => {
    const log = fresh()
    log.start(run('r1'))
    log.start(run('r1', { actor: 'bob' }))
    expect((await log.get('r1'))?.actor).toBe('ada')
    log.finish(run('r1'), failed('first'))
    log.finish(run('r1'), succeeded())
    log.start(run('r1'))
    expect(await log.get('r1')).toMatchObject({ outcome: 'FAILED', error: 'first' })
  })

  test('makes the row when it is closed without having been opened', async () => {
    const log = fresh()
    log.finish(run('r1', { actor: null }), succeeded())
    expect(await log.get('r1')).toEqual(run('r1', { actor: null, ...succeeded() }))
  })

  test('keeps from the start what the closing side has lost, and takes what it has learnt', async () => {
    const log = fresh()
    log.start(run('r1', { changed: false, revision: null }))
    log.finish(
      run('r1', { planHash: null, objectUid: null, actor: null, note: null, revision: 4 }),
      succeeded(),
    )
    expect(await log.get('r1')).toMatchObject({
      planHash: 'h1',
      objectUid: 'uid-1',
      actor: 'ada',
      revision: 4,
      changed: true,
    })
  })

  test('lists open runs oldest first', async () => {
    const log = fresh()
    log.start(run('late', { startedAt: '2031-01-01T00:00:02Z' }))
    log.start(run('early', { startedAt: '2031-01-01T00:00:01.500Z' }))
    log.finish(run('closed'), succeeded())
    expect((await log.open()).map(({ id }) => id)).toEqual(['early', 'late'])
  })

  test('bounds long texts and takes any character', async () => {
    const log = fresh()
    log.finish(
      run('r1', { note: 'a\u0000b' }),
      succeeded({ error: 'x'.repeat(1_000_000), output: 'größe 🦀' }),
    )
    const kept = await log.get('r1')
    expect(kept?.error?.length).toBeLessThan(20_000)
    expect(kept).toMatchObject({ output: 'größe 🦀', note: 'a\ufffdb' })
  })

  test('pages newest first, and says what lies on either side', async () => {
    const log = fresh()
    for (const [id, second] of [
      ['a', '01'],
      ['b', '02'],
      ['c', '02'],
      ['d', '03'],
      ['e', '04'],
    ] as const) {
      log.start(run(id, { startedAt: `2031-01-01T00:00:${second}Z` }))
    }
    const first = await log.page({ first: 2 })
    expect(ids(first)).toEqual(['e', 'd'])
    expect(first).toMatchObject({ hasNextPage: true, hasPreviousPage: false, available: true })
    // A run that comes meanwhile moves nothing that has been read.
    log.start(run('f', { startedAt: '2031-01-01T00:00:05Z' }))
    const second = await log.page({ first: 2, after: first.edges[1]?.cursor })
    expect(ids(second)).toEqual(['c', 'b'])
    expect(second).toMatchObject({ hasNextPage: true, hasPreviousPage: true })
    const third = await log.page({ first: 2, after: second.edges[1]?.cursor })
    expect(ids(third)).toEqual(['a'])
    expect(third).toMatchObject({ hasNextPage: false, hasPreviousPage: true })
    expect(await log.page({ first: 0 })).toMatchObject({ edges: [], hasNextPage: true })
  })

  test('answers a cursor that is none of ours with nothing', async () => {
    const log = fresh()
    log.start(run('a'))
    for (const after of [
      '',
      'nonsense',
      Buffer.from('[1]').toString('base64url'),
      Buffer.from('{}').toString('base64url'),
    ]) {
      expect(decodeRunCursor(after)).toBeNull()
      expect(await log.page({ first: 5, after })).toMatchObject({
        edges: [],
        hasNextPage: false,
        available: true,
      })
    }
  })

  test('has no warning while all is well', async () => {
    const log = fresh()
    log.start(run('a'))
    await log.flush()
    expect(log.warning()).toBeNull()
  })
})

const times = [
  '2031-01-01T00:00:00Z',
  '2031-01-01T00:00:00.000Z',
  '2031-01-01T02:00:01+02:00',
  '2031-01-01T00:00:02.500Z',
]
const arbitraryRun = (id: number) =>
  fc
    .record({
      namespace: fc.constantFrom('team-a', 'team-b'),
      name: fc.constantFrom('chat', 'talk'),
      action: fc.constantFrom('UNINSTALL', 'APPLY', 'AUTOSCALE'),
      backend: fc.constantFrom('HELM', 'LLMSERVICE'),
      actor: fc.constantFrom('ada', 'bob', null),
      startedAt: fc.constantFrom(...times),
      closed: fc.boolean(),
    })
    .map(({ closed, ...parts }) => ({ run: run(`r${id}`, parts as Partial<Run>), closed }))
const some = <T>(...values: T[]) => fc.option(fc.subarray(values), { nil: undefined })
const arbitraryFilter: fc.Arbitrary<RunFilter> = fc.record({
  namespace: fc.option(fc.constantFrom('team-a', 'team-c'), { nil: undefined }),
  name: fc.option(fc.constantFrom('chat', ''), { nil: undefined }),
  actions: some('UNINSTALL', 'APPLY') as fc.Arbitrary<RunFilter['actions']>,
  outcomes: some('STARTED', 'SUCCEEDED') as fc.Arbitrary<RunFilter['outcomes']>,
  actors: some('ada', 'eve'),
  backends: some('HELM', 'LLMSERVICE') as fc.Arbitrary<RunFilter['backends']>,
  since: fc.option(fc.constantFrom(...times), { nil: undefined }),
  until: fc.option(fc.constantFrom(...times), { nil: undefined }),
})

test('both give the same pages for any runs and any filter, and page by page the same as at once', async () => {
  const runs = fc
    .integer({ min: 0, max: 8 })
    .chain((count) => fc.tuple(...Array.from({ length: count }, (_, id) => arbitraryRun(id))))
  await fc.assert(
    fc.asyncProperty(runs, arbitraryFilter, fc.integer({ min: 1, max: 3 }), async (runs, filter, first) => {
      const logs = Object.values(makers).map((make) => make())
      const walks = await Promise.all(
        logs.map(async (log) => {
          for (const { run, closed } of runs) closed ? log.finish(run, succeeded()) : log.start(run)
          const all = await log.page({ first: 100, filter })
          const walked: Run[] = []
          for (let after: string | undefined; ; ) {
            const page = await log.page({ first, after, filter })
            expect(page.hasPreviousPage).toBe(walked.length > 0)
            walked.push(...page.edges.map((edge) => edge.run))
            if (!page.hasNextPage) break
            after = page.edges.at(-1)?.cursor
          }
          expect(walked).toEqual(all.edges.map((edge) => edge.run))
          await log.close()
          return all
        }),
      )
      expect(walks[0]).toEqual(walks[1])
    }),
    { numRuns: 40 },
  )
})
