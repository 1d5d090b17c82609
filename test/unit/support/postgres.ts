/** A PostgreSQL server of this machine, started for one test file as its own user, on a free loopback port. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'
import pg from 'pg'

/** Where Debian puts the programs that are not for everybody's PATH; the newest version first. */
function folders(): string[] {
  const root = '/usr/lib/postgresql'
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : []
  return [
    ...versions.map((version) => join(root, version, 'bin')),
    ...(process.env.PATH ?? '').split(delimiter),
  ]
}

const programs = folders().find((folder) =>
  ['initdb', 'postgres'].every((name) => existsSync(join(folder, name))),
)

/** False where tests with PostgreSQL are to be skipped; in CI they are not, and fail where it is missing. */
export const postgresWanted = programs !== undefined || process.env.CI === 'true'

const USER = 'swiss'
/** Odd enough to be found wherever it should not be, and to need escaping in a URL. */
export const PASSWORD = 'Pa55/w@rd:x'

export interface TestPostgres {
  port: number
  /** An empty schema, so that a test has tables of its own, and the URL that leads to it. */
  fresh(): Promise<{ url: string; schema: string }>
  /** One statement, as the owner of everything. */
  query(text: string): Promise<pg.QueryResult>
  /** A connection of somebody else, ended with the server. */
  connect(url?: string): Promise<pg.Client>
  /** Ends it as a crash would: no connection is told, nothing is tidied up. */
  crash(): Promise<void>
  /** Starts it again after a crash, at the same port, unless it runs; resolves when it takes connections. */
  start(): Promise<void>
  /** Stops it and removes all it has written. */
  remove(): Promise<void>
}

export async function startPostgres(): Promise<TestPostgres> {
  if (programs === undefined) throw new Error('PostgreSQL is not installed: apt-get install postgresql')
  const bin = programs
  const owner = ownerOf()
  const folder = mkdtempSync(join(tmpdir(), 'swiss-postgres-'))
  const data = join(folder, 'data')
  writeFileSync(join(folder, 'password'), PASSWORD)
  for (const path of [folder, join(folder, 'password')]) if (owner) chownSync(path, owner.uid, owner.gid)
  const run = (name: string, args: string[]): [string, string[]] =>
    owner
      ? ['setpriv', ['--reuid=postgres', '--regid=postgres', '--clear-groups', join(bin, name), ...args]]
      : [join(bin, name), args]
  const [initdb, initArgs] = run('initdb', [
    ...['-D', data, '-U', USER, '-A', 'scram-sha-256', `--pwfile=${join(folder, 'password')}`],
    ...['--encoding=UTF8', '--locale=C.UTF-8', '--no-sync'],
  ])
  execFileSync(initdb, initArgs, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })

  const port = await freePort()
  const url = (part = '') =>
    `postgres://${USER}:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/postgres${part}`
  const clients = new Set<pg.Client>()
  let server: ChildProcess | null = null
  let schemas = 0

  const end = async (signal: NodeJS.Signals) => {
    const child = server
    server = null
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const gone = new Promise((resolve) => child.once('exit', resolve))
    child.kill(signal)
    await gone
  }
  const connect = async (to = url()) => {
    const client = new pg.Client({ connectionString: to })
    client.on('error', () => undefined)
    await client.connect()
    clients.add(client)
    return client
  }
  const query = async (text: string) => {
    const client = await connect()
    try {
      return await client.query(text)
    } finally {
      clients.delete(client)
      await client.end()
    }
  }
  const start = async () => {
    if (server !== null) return
    const [postgres, args] = run('postgres', [
      ...['-D', data, '-p', String(port), '-k', folder, '-c', 'listen_addresses=127.0.0.1'],
      ...['-c', 'fsync=off', '-c', 'shared_buffers=16MB', '-c', 'lc_messages=C'],
    ])
    server = await ready(spawn(postgres, args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] }))
  }
  const leave = () => {
    server?.kill('SIGQUIT')
    rmSync(folder, { recursive: true, force: true })
  }
  process.once('exit', leave)
  const remove = async () => {
    await Promise.allSettled([...clients].map((client) => client.end()))
    await end('SIGQUIT')
    process.removeListener('exit', leave)
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await start()
  } catch (error) {
    await remove()
    throw error
  }
  return {
    port,
    connect,
    query,
    start,
    remove,
    crash: () => end('SIGQUIT'),
    async fresh() {
      const schema = `test_${schemas++}`
      await query(`create schema ${schema}`)
      return { url: url(`?options=${encodeURIComponent(`-c search_path=${schema}`)}`), schema }
    },
  }
}

/** PostgreSQL refuses to run as root. */
function ownerOf(): { uid: number; gid: number } | null {
  if (process.getuid?.() !== 0) return null
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

/** Resolves when the server says that it takes connections; rejects with what it said when it ends before. */
function ready(child: ChildProcess): Promise<ChildProcess> {
  const said: string[] = []
  return new Promise((resolve, reject) => {
    if (child.stderr) {
      createInterface({ input: child.stderr }).on('line', (line) => {
        said.push(line)
        if (line.includes('ready to accept connections')) resolve(child)
      })
    }
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`postgres has ended with ${code}: ${said.join('\n')}`)))
  })
}

/** A loopback port that nobody has. */
export function freePort(): Promise<number> {
  const server = createServer()
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' ? (address?.port ?? 0) : 0))
    })
  })
}
