/** What every audit log does, whatever holds it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, afterEach, test as all, beforeAll, describe, expect } from 'vitest'
import { decodeRunCursor } from '../../../services/audit/cursor.ts'
import { memoryAudit } from '../../../services/audit/memoryAudit.ts'
import { postgresAudit } from '../../../services/audit/postgresAudit.ts'
import type { AuditLog, Run, RunFilter } from '../../../services/audit/run.ts'
import { sqliteAudit } from '../../../services/audit/sqliteAudit.ts'
import { FakeClock } from '../support/fakeClock.ts'
import { postgresWanted, startPostgres, type TestPostgres } from '../support/postgres.ts'
import { failed, quiet, run, succeeded } from './runs.ts'

const folder = mkdtempSync(join(tmpdir(), 'swiss-audit-'))
let postgres: TestPostgres | null = null
beforeAll(async () => {
  if (postgresWanted) postgres = await startPostgres()
})
/** PostgreSQL's table of the log that was made last. */
let tables = ''
const server = (): TestPostgres => {
  if (postgres === null) throw new Error('there is no PostgreSQL')
  return postgres
}
let files = 0
const opened: AuditLog[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map((log) => log.close()))
})
afterAll(async () => {
  await postgres?.remove()
  rmSync(folder, { recursive: true, force: true })
})

const makers: Record<string, () => Promise<AuditLog>> = {
  memory: async () => memoryAudit(),
  sqlite: async () =>
    sqliteAudit({ path: join(folder, `audit-${files++}.db`), clock: new FakeClock(), logger: quiet }),
  postgres: async () => {
    const { url, schema } = await server().fresh()
    tables = `${schema}.runs`
    return postgresAudit({ url, clock: new FakeClock(), logger: quiet })
  },
}
const isHere = (name: string) => name !== 'postgres' || postgresWanted
const ids = (page: { edges: { run: Run }[] }) => page.edges.map((edge) => edge.run.id)

describe.each(Object.entries(makers))('an audit log in %s', (name, make) => {
  const test = all.skipIf(!isHere(name))
  const fresh = async () => {
    const log = await make()
    opened.push(log)
    return log
  }

  test('opens a run and closes it: one row, with all it was given', async () => {
    const log = await fresh()
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
    const log = await fresh()
    log.start(run('r1'))
    log.start(run('r1', { actor: 'bob' }))
    expect((await log.get('r1'))?.actor).toBe('ada')
    log.finish(run('r1'), failed('first'))
    log.finish(run('r1'), succeeded())
    log.start(run('r1'))
    expect(await log.get('r1')).toMatchObject({ outcome: 'FAILED', error: 'first' })
  })

  test('makes the row when it is closed without having been opened', async () => {
    const log = await fresh()
    log.finish(run('r1', { actor: null }), succeeded())
    expect(await log.get('r1')).toEqual(run('r1', { actor: null, ...succeeded() }))
  })

  test('keeps from the start what the closing side has lost, and takes what it has learnt', async () => {
    const log = await fresh()
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
    const log = await fresh()
    log.start(run('late', { startedAt: '2031-01-01T00:00:02Z' }))
    log.start(run('early', { startedAt: '2031-01-01T00:00:01.500Z' }))
    log.finish(run('closed'), succeeded())
    expect((await log.open()).map(({ id }) => id)).toEqual(['early', 'late'])
  })

  test('bounds long texts and takes any character', async () => {
    const log = await fresh()
    log.finish(
      run('r1', { note: 'a\u0000b' }),
      succeeded({ error: 'x'.repeat(1_000_000), output: 'größe 🦀' }),
    )
    const kept = await log.get('r1')
    expect(kept?.error?.length).toBeLessThan(20_000)
    expect(kept).toMatchObject({ output: 'größe 🦀', note: 'a\ufffdb' })
  })

  test('pages newest first, and says what lies on either side', async () => {
    const log = await fresh()
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
    const log = await fresh()
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

  test('finds nothing by a text with a NUL, which no run has, and takes no harm from it', async () => {
    const log = await fresh()
    log.start(run('a'))
    const cursor = Buffer.from('[5000000000000,"a\\u0000"]').toString('base64url')
    expect(decodeRunCursor(cursor)).toEqual({ startedMs: 5_000_000_000_000, id: 'a\u0000' })
    expect(await log.get('a\u0000')).toBeNull()
    for (const filter of [{ name: 'a\u0000' }, { actors: ['a\u0000'] }, { namespace: '\u0000' }]) {
      expect(await log.page({ first: 5, filter })).toMatchObject({ edges: [], available: true })
    }
    expect(ids(await log.page({ first: 5, filter: { actors: ['a\u0000', 'ada'] } }))).toEqual(['a'])
    expect(await log.page({ first: 5, after: cursor })).toMatchObject({ available: true })
    expect(log.warning()).toBeNull()
  })

  test('sorts runs that started together byte by byte, in every language', async () => {
    const log = await fresh()
    for (const id of ['b', 'B', 'a-1', 'a1', 'A', 'ä', '\u{1f980}']) log.start(run(id))
    const sorted = ['\u{1f980}', 'ä', 'b', 'a1', 'a-1', 'B', 'A']
    expect(ids(await log.page({ first: 10 }))).toEqual(sorted)
    expect((await log.open()).map(({ id }) => id)).toEqual([...sorted].reverse())
  })

  test('keeps numbers that 32 bits do not hold', async () => {
    const log = await fresh()
    log.start(run('r1', { revision: 9_999_999_999, startedAt: '2999-01-01T00:00:00.000Z' }))
    expect(await log.get('r1')).toMatchObject({ revision: 9_999_999_999 })
    const page = await log.page({ first: 1 })
    expect(decodeRunCursor(page.edges[0]?.cursor ?? '')?.startedMs).toBe(Date.parse('2999-01-01'))
  })

  test('has no warning while all is well', async () => {
    const log = await fresh()
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

all('all give the same pages for any runs and any filter, and page by page the same as at once', async () => {
  const runs = fc
    .integer({ min: 0, max: 8 })
    .chain((count) => fc.tuple(...Array.from({ length: count }, (_, id) => arbitraryRun(id))))
  const kept = isHere('postgres') ? await makers.postgres?.() : undefined
  if (kept) opened.push(kept)
  await kept?.flush()
  await fc.assert(
    fc.asyncProperty(runs, arbitraryFilter, fc.integer({ min: 1, max: 3 }), async (runs, filter, first) => {
      const logs = await Promise.all([makers.memory?.(), makers.sqlite?.()])
      // Opening one takes longer than all the rest.
      if (kept) await server().query(`truncate ${tables}`)
      const walks = await Promise.all(
        [...logs, kept].map(async (log) => {
          if (!log) return []
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
          if (log !== kept) await log.close()
          return [all]
        }),
      )
      for (const walk of walks.flat()) expect(walk).toEqual(walks[0]?.[0])
    }),
    { numRuns: 40 },
  )
})
