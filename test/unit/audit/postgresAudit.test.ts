/** What can happen to the PostgreSQL server of an audit log. */
import { createServer, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { systemClock } from '../../../server/clock.ts'
import { postgresAudit } from '../../../services/audit/postgresAudit.ts'
import { PostgresStore, type PostgresStoreOptions } from '../../../services/audit/postgresStore.ts'
import type { AuditLog } from '../../../services/audit/run.ts'
import type { Clock } from '../../../services/runtime/clock.ts'
import type { Logger } from '../../../services/runtime/logger.ts'
import { FakeClock } from '../support/fakeClock.ts'
import { freePort, PASSWORD, postgresWanted, startPostgres, type TestPostgres } from '../support/postgres.ts'
import { expectExactlyOnce } from './processes.ts'
import { failed, quiet, run, succeeded } from './runs.ts'

const eventually = (check: () => void | Promise<void>) => vi.waitFor(check, { timeout: 10_000 })
const AWAY = { edges: [], hasNextPage: false, hasPreviousPage: false, available: false }

describe.skipIf(!postgresWanted)('an audit log in PostgreSQL', () => {
  let postgres: TestPostgres
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres?.remove())
  // One that has failed between a crash and the end of it is not to take the others with it.
  beforeEach(() => postgres.start())
  const opened: AuditLog[] = []
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((log) => log.close()))
  })

  function logAt(url: string, more: { logger?: Logger; openStore?: typeof PostgresStore.open } = {}) {
    const clock = new FakeClock()
    const log = postgresAudit({ url, clock, logger: quiet, ...more })
    opened.push(log)
    return { log, clock, retry: () => clock.advance(5000, () => log.flush()) }
  }
  const count = async (schema: string, where = 'true') => {
    const { rows } = await postgres.query(`select count(*)::int as n from ${schema}.runs where ${where}`)
    return rows[0].n
  }

  test('runs outlive the process, and two logs on one database see and close each other’s', async () => {
    const { url } = await postgres.fresh()
    const first = logAt(url).log
    expect(first.shared).toBe(true)
    first.start(run('r1'))
    first.start(run('r2'))
    await first.flush()
    const second = logAt(url).log
    expect((await second.open()).map(({ id }) => id)).toEqual(['r1', 'r2'])
    second.finish(run('r1'), succeeded())
    await second.flush()
    first.finish(run('r1'), failed('too late'))
    await first.flush()
    expect(await first.get('r1')).toMatchObject({ outcome: 'SUCCEEDED', error: null })
    await first.close()
    await second.close()
    expect(await logAt(url).log.open()).toMatchObject([{ id: 'r2' }])
  })

  test('of pools that close the same run at the same moment exactly one does, whoever opened it', async () => {
    const { url, schema } = await postgres.fresh()
    const logs = ['a', 'b', 'c'].map((name) => ({ name, log: logAt(url).log }))
    await Promise.all(logs.map(({ log }) => log.flush()))
    for (let round = 0; round < 60; round++) {
      const id = `r${round}`
      await Promise.all(
        logs.map(async ({ name, log }, index) => {
          // One opens it while another closes it already, not knowing it; the rows of a batch lie crosswise.
          if (round % 3 === index) log.start(run(id))
          log.finish(run(id), name === 'c' ? failed(name) : succeeded({ output: name }))
          await log.flush()
        }),
      )
    }
    for (const { log } of logs) expect(log.warning()).toBeNull()
    expect(await count(schema)).toBe(60)
    expect(await count(schema, "outcome = 'SUCCEEDED' and output in ('a', 'b') and error is null")).toBe(
      60 - (await count(schema, "outcome = 'FAILED' and output is null and error = 'c'")),
    )
  })

  test('a run that is being opened by another at the moment of its end does not stay open', async () => {
    const { url, schema } = await postgres.fresh()
    const { log } = logAt(url)
    await log.flush()
    const other = await postgres.connect(url)
    await other.query('begin')
    await other.query(
      "insert into runs values ('r1','team-a','chat','HELM','UNINSTALL','STARTED',null,null,null,null,null,1,null,null,'2031-01-01T00:00:00Z',0,null)",
    )
    log.finish(run('r1'), succeeded())
    const written = log.flush()
    // The log's statement waits for the other transaction now.
    await eventually(async () => {
      const { rows } = await postgres.query('select count(*)::int as n from pg_locks where not granted')
      expect(rows[0].n).toBe(1)
    })
    await other.query('commit')
    await written
    expect(await count(schema, "outcome = 'SUCCEEDED'")).toBe(1)
  })

  test('two processes open one new database at once, and exactly one of them closes each run', {
    timeout: 60_000,
  }, async () => {
    const { url } = await postgres.fresh()
    await expectExactlyOnce(url, () => logAt(url).log)
  })

  test('many gateways may bring the tables up to date at once, beside another program’s', async () => {
    const other = await postgres.fresh()
    await postgres.query(`create table ${other.schema}.kysely_migration (name text)`)
    await postgres.query(`create table ${other.schema}.kysely_migration_lock (id text)`)
    const { url, schema } = await postgres.fresh()
    const logs = Array.from({ length: 6 }, () => logAt(url).log)
    for (const [i, log] of logs.entries()) log.start(run(`r${i}`))
    await Promise.all(logs.map((log) => log.flush()))
    expect(logs.map((log) => log.warning())).toEqual(logs.map(() => null))
    expect(await count(schema)).toBe(6)
  })

  test('a server that is killed and comes back loses nothing, and the warning waits for nobody', {
    timeout: 60_000,
  }, async () => {
    const { url, schema } = await postgres.fresh()
    const { log, retry } = logAt(url)
    log.start(run('r1'))
    await log.flush()
    await postgres.crash()
    await eventually(() => expect(log.warning()).toMatch(/^the audit log cannot be used \(/))
    log.finish(run('r1'), succeeded())
    log.start(run('r2'))
    await log.flush()
    expect(log.warning()).toBe(
      'the audit log cannot be used (it cannot be reached); 2 entries wait in memory',
    )
    expect(await log.page({ first: 5 })).toEqual(AWAY)
    expect(await log.get('r1')).toMatchObject({ outcome: 'SUCCEEDED' })
    expect(await log.open()).toMatchObject([{ id: 'r2' }])
    await postgres.start()
    await retry()
    expect(log.warning()).toBeNull()
    expect((await log.page({ first: 5 })).edges).toMatchObject([
      { run: { id: 'r2', outcome: 'STARTED' } },
      { run: { id: 'r1', outcome: 'SUCCEEDED' } },
    ])
    expect(await count(schema)).toBe(2)
  })

  test('a server that is killed in the middle of a transaction: each entry is written once', {
    timeout: 60_000,
  }, async () => {
    const { url, schema } = await postgres.fresh()
    const { log, retry } = logAt(url)
    for (let i = 0; i < 20; i++) log.start(run(`r${i}`))
    await log.flush()
    const other = await postgres.connect(url)
    await other.query('begin')
    await other.query("select 1 from runs where id = 'r10' for update")
    for (let i = 0; i < 20; i++) log.finish(run(`r${i}`), succeeded())
    const written = log.flush()
    const read = log.page({ first: 5 })
    await eventually(async () => {
      const { rows } = await postgres.query('select count(*)::int as n from pg_locks where not granted')
      expect(rows[0].n).toBe(1)
    })
    await postgres.crash()
    await written
    expect(await read).toEqual(AWAY)
    expect(log.warning()).toMatch(/; 20 entries wait in memory$/)
    await postgres.start()
    expect(await count(schema, "outcome = 'STARTED'")).toBe(20)
    await retry()
    expect(log.warning()).toBeNull()
    expect(await count(schema, "outcome = 'SUCCEEDED'")).toBe(20)
  })

  test('connections that the server closes are made again by whoever writes or reads next', async () => {
    const { url } = await postgres.fresh()
    const { log } = logAt(url)
    log.start(run('r1'))
    await log.flush()
    for (let round = 0; round < 3; round++) {
      await postgres.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname is not null',
      )
      log.start(run(`r2-${round}`))
      await log.flush()
      await eventually(async () => expect((await log.page({ first: 9 })).edges).toHaveLength(round + 2))
    }
  })

  test('a database that takes no writes is still read, and written when it does', async () => {
    const { url, schema } = await postgres.fresh()
    const { log, retry } = logAt(url)
    log.start(run('r1'))
    await log.flush()
    const readOnly = async (value: 'on' | 'off') => {
      await postgres.query(
        `begin read write; alter role swiss set default_transaction_read_only = ${value}; commit`,
      )
    }
    await readOnly('on')
    // Taken up by connections made from now on.
    await postgres.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'swiss-gateway'",
    )
    log.start(run('r2'))
    await log.flush()
    await eventually(() => expect(log.warning()).toContain('it is read-only'))
    expect(await log.page({ first: 5 })).toMatchObject({ available: true, edges: [{ run: { id: 'r1' } }] })
    await readOnly('off')
    await retry()
    expect(log.warning()).toBeNull()
    expect(await count(schema)).toBe(2)
  })

  test('a full disk keeps what is written readable, and the rest for later', async () => {
    const { url } = await postgres.fresh()
    let disk: 'full' | 'free' = 'free'
    const openStore = async (options: PostgresStoreOptions) => {
      const store = await PostgresStore.open(options)
      const write = store.write.bind(store)
      store.write = async (entries) => {
        if (disk === 'full') throw Object.assign(new Error('could not extend file'), { code: '53100' })
        return write(entries)
      }
      return store
    }
    const { log, retry } = logAt(url, { openStore })
    log.start(run('r1'))
    await log.flush()
    disk = 'full'
    log.start(run('r2'))
    await log.flush()
    expect(log.warning()).toBe('the audit log cannot be used (the disk is full); 1 entries wait in memory')
    expect(await log.page({ first: 5 })).toMatchObject({ available: true, edges: [{ run: { id: 'r1' } }] })
    disk = 'free'
    await retry()
    expect(log.warning()).toBeNull()
    expect(await log.get('r2')).toMatchObject({ id: 'r2' })
  })

  test('an entry that the database does not take is dropped and does not hold up the others', async () => {
    const { url } = await postgres.fresh()
    const { log } = logAt(url)
    log.start(run('r1'))
    log.start(run('bad', { namespace: null as unknown as string }))
    log.start(run('nul', { name: 'a\u0000' }))
    // Random, so that compression does not make it fit into the index.
    const long = Array.from({ length: 9000 }, () => Math.random().toString(36)[2]).join('')
    log.start(run(long))
    log.start(run('r2', { actor: long }))
    await log.flush()
    expect((await log.open()).map(({ id }) => id)).toEqual(['r1', 'r2'])
    expect(log.warning()).toBe('3 entries of the audit log are lost')
  })

  test('never says the password, whatever is wrong', async () => {
    const said: string[] = []
    const hear = (fields: object, message: string) => said.push(`${JSON.stringify(fields)} ${message}`)
    const logger = { debug: hear, info: hear, warn: hear, error: hear }
    const secret = 'Unspeakable12/34'
    const { port } = postgres
    const urls = {
      [`postgres://swiss:${encodeURIComponent(secret)}@127.0.0.1:${port}/postgres`]:
        'it refuses the user or the password',
      // A slash that was not escaped: the URL is taken apart in the wrong place.
      [`postgres://127.0.0.1:${port}/${secret}@127.0.0.1/postgres?user=swiss&password=${encodeURIComponent(PASSWORD)}`]:
        'the database does not exist',
      [`postgres://swiss:${encodeURIComponent(secret)}@127.0.0.1:${await freePort()}/postgres`]:
        'it cannot be reached',
      [`postgres://swiss:${encodeURIComponent(secret)}@127.0.0.1:${port}/postgres?ssl=true`]:
        'it does not speak TLS',
      [`postgres://swiss:${secret}@127.0.0.1/postgres`]: 'it fails with ERR_INVALID_URL',
    }
    for (const [url, trouble] of Object.entries(urls)) {
      const { log } = logAt(url, { logger })
      log.start(run('r1'))
      await log.flush()
      expect(log.warning()).toBe(`the audit log cannot be used (${trouble}); 1 entries wait in memory`)
      await log.close()
    }
    expect(said.length).toBeGreaterThanOrEqual(5)
    for (const line of said) expect(line).not.toMatch(/Unspeakable|12\/34|Pa55|rd:x/)
  })

  test('a log without its server starts, waits, and is written when the server is there', {
    timeout: 60_000,
  }, async () => {
    const { url, schema } = await postgres.fresh()
    await postgres.crash()
    const { log, retry } = logAt(url)
    log.start(run('r1'))
    log.finish(run('r1'), succeeded())
    await log.flush()
    expect(log.warning()).toBe(
      'the audit log cannot be used (it cannot be reached); 2 entries wait in memory',
    )
    await postgres.start()
    await retry()
    expect(log.warning()).toBeNull()
    expect(await count(schema)).toBe(1)
  })
})

test('a server that takes connections and says nothing holds nobody up for long', async () => {
  const sockets: Socket[] = []
  const server = createServer((socket) => sockets.push(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  const clock: Clock = systemClock
  const log = postgresAudit({ url: `postgres://swiss:x@127.0.0.1:${port}/runs`, clock, logger: quiet })
  log.start(run('r1'))
  const began = performance.now()
  expect(await Promise.all([log.page({ first: 5 }), log.get('r1')])).toMatchObject([AWAY, { id: 'r1' }])
  expect(performance.now() - began).toBeLessThan(8000)
  expect(log.warning()).toMatch(/it does not answer in time\); 1 entries wait in memory/)
  await log.close()
  for (const socket of sockets) socket.destroy()
  server.close()
})
