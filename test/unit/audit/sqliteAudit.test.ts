/** What can happen to the file of an audit log. */
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, test } from 'vitest'
import type { AuditLog } from '../../../services/audit/run.ts'
import { sqliteAudit } from '../../../services/audit/sqliteAudit.ts'
import { SqliteStore } from '../../../services/audit/sqliteStore.ts'
import { FakeClock } from '../support/fakeClock.ts'
import { expectExactlyOnce } from './processes.ts'
import { failed, quiet, run, succeeded } from './runs.ts'

const folder = mkdtempSync(join(tmpdir(), 'swiss-audit-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let files = 0
const opened: AuditLog[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map((log) => log.close()))
})

const newPath = () => join(folder, `audit-${files++}.db`)
function logAt(path: string, clock = new FakeClock()) {
  const log = sqliteAudit({ path, clock, logger: quiet })
  opened.push(log)
  return { log, clock, retry: () => clock.advance(5000, () => log.flush()) }
}
/** A connection of somebody else, to hold the file or to look into it. */
const Database = createRequire(import.meta.url)('libsql') as typeof import('libsql')

test('runs outlive the process, and two logs on one file see and close each other’s', async () => {
  const path = newPath()
  const first = logAt(path).log
  first.start(run('r1'))
  first.start(run('r2'))
  await first.flush()
  const second = logAt(path).log
  expect((await second.open()).map(({ id }) => id)).toEqual(['r1', 'r2'])
  second.finish(run('r1'), succeeded())
  await second.flush()
  first.finish(run('r1'), failed('too late'))
  await first.flush()
  expect(await first.get('r1')).toMatchObject({ outcome: 'SUCCEEDED', error: null })
  await first.close()
  await second.close()
  expect(await logAt(path).log.open()).toMatchObject([{ id: 'r2' }])
})

test('a folder that is not there yet loses nothing', async () => {
  const path = join(folder, 'later', 'audit.db')
  const { log, retry, clock } = logAt(path)
  log.start(run('r1'))
  log.start(run('r2', { startedAt: '2031-01-01T00:00:01Z' }))
  log.finish(run('r1'), succeeded())
  await log.flush()
  expect(log.warning()).toBe(
    'the audit log cannot be used (its file cannot be opened); 3 entries wait in memory',
  )
  expect(log.warning()).not.toContain(folder)
  // What is known in memory is answered from there; the log itself is empty, which is no error.
  expect(await log.open()).toMatchObject([{ id: 'r2' }])
  expect(await log.get('r1')).toMatchObject({ outcome: 'SUCCEEDED' })
  expect(await log.page({ first: 5 })).toEqual({
    edges: [],
    hasNextPage: false,
    hasPreviousPage: false,
    available: false,
  })
  mkdirSync(join(folder, 'later'))
  expect(clock.pending).toBe(1)
  await retry()
  expect(log.warning()).toBeNull()
  expect((await log.page({ first: 5 })).edges).toMatchObject([
    { run: { id: 'r2' } },
    { run: { id: 'r1', outcome: 'SUCCEEDED' } },
  ])
})

test('a file that is no database is left as it is, and a new one taken when it has been moved away', async () => {
  const path = newPath()
  writeFileSync(path, 'this is no database '.repeat(500))
  const { log, retry } = logAt(path)
  log.start(run('r1'))
  await log.flush()
  expect(log.warning()).toMatch(/its file is no database/)
  renameSync(path, `${path}.broken`)
  await retry()
  expect(log.warning()).toBeNull()
  expect(await log.get('r1')).toMatchObject({ id: 'r1' })
})

test('a file that is taken away under a running gateway is made again, and nothing more goes into the old one', async () => {
  const path = newPath()
  const { log } = logAt(path)
  log.start(run('r1'))
  await log.flush()
  for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true })
  log.start(run('r2'))
  await log.flush()
  expect(await logAt(path).log.get('r2')).toMatchObject({ id: 'r2' })
})

test('a writer elsewhere is waited for without a warning, unless it never ends', async () => {
  const path = newPath()
  const { log, clock } = logAt(path)
  await log.flush()
  const other = new Database(path)
  other.exec('BEGIN IMMEDIATE')
  log.start(run('r1'))
  await log.flush()
  expect(log.warning()).toBeNull()
  expect(await log.get('r1')).toMatchObject({ id: 'r1' })
  for (let i = 0; i < 20; i++) await clock.advance(250, () => log.flush())
  expect(log.warning()).toMatch(/another process holds it/)
  other.exec('COMMIT')
  other.close()
  await clock.advance(250, () => log.flush())
  expect(log.warning()).toBeNull()
  expect(await log.open()).toMatchObject([{ id: 'r1' }])
})

test('a full disk keeps what is written readable, and the rest for later', async () => {
  let disk: 'full' | 'free' = 'free'
  const openStore = async (path: string) => {
    const store = await SqliteStore.open(path)
    const write = store.write.bind(store)
    store.write = async (entries) => {
      if (disk === 'full') throw Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' })
      return write(entries)
    }
    return store
  }
  const clock = new FakeClock()
  const log = sqliteAudit({ path: newPath(), clock, logger: quiet, openStore })
  opened.push(log)
  log.start(run('r1'))
  await log.flush()
  disk = 'full'
  log.start(run('r2'))
  log.finish(run('r1'), succeeded())
  await log.flush()
  expect(log.warning()).toBe('the audit log cannot be used (the disk is full); 2 entries wait in memory')
  expect(await log.page({ first: 5 })).toMatchObject({
    available: true,
    edges: [{ run: { id: 'r1', outcome: 'STARTED' } }],
  })
  expect(await log.get('r1')).toMatchObject({ outcome: 'SUCCEEDED' })
  expect(await log.open()).toMatchObject([{ id: 'r2' }])
  disk = 'free'
  await clock.advance(5000, () => log.flush())
  expect(log.warning()).toBeNull()
  expect((await log.page({ first: 5 })).edges).toMatchObject([
    { run: { id: 'r2' } },
    { run: { id: 'r1', outcome: 'SUCCEEDED' } },
  ])
})

test('a store that fails half-way through single entries loses none of the rest', async () => {
  let left = 2
  const openStore = async (path: string) => {
    const store = await SqliteStore.open(path)
    const write = store.write.bind(store)
    store.write = async (entries) => {
      if (entries.length === 1 && left-- === 0)
        throw Object.assign(new Error('gone'), { code: 'SQLITE_IOERR' })
      return write(entries)
    }
    return store
  }
  const clock = new FakeClock()
  const log = sqliteAudit({ path: newPath(), clock, logger: quiet, openStore })
  opened.push(log)
  for (const id of ['r1', 'r2', 'r3', 'r4'])
    log.start(run(id, id === 'r1' ? { name: null as unknown as string } : {}))
  await log.flush()
  expect(log.warning()).toMatch(/its file cannot be read or written\); 2 entries wait in memory; 1 entries/)
  await clock.advance(5000, () => log.flush())
  expect((await log.open()).map(({ id }) => id)).toEqual(['r2', 'r3', 'r4'])
})

test('what is said while a batch ends is written too when flush resolves', async () => {
  const path = newPath()
  const { log } = logAt(path)
  await log.flush()
  const other = new Database(path)
  for (let turns = 0; turns < 60; turns++) {
    log.start(run(`first-${turns}`))
    // At each of the steps between the last entry and the end of the writing.
    for (let turn = 0; turn < turns; turn++) await Promise.resolve()
    log.start(run(`second-${turns}`))
    await log.flush()
    expect(other.prepare('select count(*) as n from runs').get()).toMatchObject({ n: 2 * (turns + 1) })
  }
  other.close()
})

test('an entry that SQLite does not take is dropped and does not hold up the others', async () => {
  const { log } = logAt(newPath())
  log.start(run('r1'))
  log.start(run('bad', { namespace: null as unknown as string }))
  log.start(run('worse', { planHash: true as unknown as string }))
  log.start(run('r2'))
  await log.flush()
  expect((await log.open()).map(({ id }) => id)).toEqual(['r1', 'r2'])
  expect(log.warning()).toBe('2 entries of the audit log are lost')
})

test('what waits is bounded: the oldest entries go first, and that is said', async () => {
  const { log } = logAt(join(folder, 'never', 'audit.db'))
  for (let i = 0; i < 10_002; i++) log.start(run(`r${i}`))
  expect(log.warning()).toMatch(/2 entries of the audit log are lost/)
  expect(await log.get('r1')).toBeNull()
  expect(await log.get('r2')).toMatchObject({ id: 'r2' })
})

test('after it is closed nothing is written and nothing is armed', async () => {
  const path = newPath()
  const { log, clock } = logAt(path)
  log.start(run('r1'))
  await log.close()
  log.start(run('r2'))
  await log.flush()
  expect(clock.pending).toBe(0)
  const { log: next } = logAt(path)
  expect(await next.get('r1')).toMatchObject({ id: 'r1' })
  expect(await next.get('r2')).toBeNull()
})

test('several processes open one new file at once, and exactly one of them closes each run', {
  timeout: 60_000,
}, async () => {
  const path = newPath()
  await expectExactlyOnce(path, () => logAt(path).log)
})
