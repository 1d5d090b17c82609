// Builds the programs a real control plane is made of, from the Go modules in tools/, once per machine.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { constants, homedir, setPriority } from 'node:os'
import { basename, join } from 'node:path'
import { seconds } from './wait.ts'

export type Row = 'etcd' | 'kubernetes' | 'kwok' | 'helm4' | 'helm3'
/** Path of each program by its name: `kube-apiserver`, `kubectl`, `helm`, … */
export type Tools = Record<string, string>

/** Flags for the linker; VERSION is the one that go.mod requires. Programs built from a module do not know theirs. */
const LDFLAGS: Record<Row, string> = {
  etcd: '-s -w',
  kubernetes: '-s -w -X k8s.io/component-base/version.gitVersion=VERSION',
  kwok: '-s -w',
  helm4: '-s -w -X helm.sh/helm/v4/internal/version.version=VERSION',
  helm3: '-s -w -X helm.sh/helm/v3/internal/version.version=VERSION',
}

export class NoGo extends Error {}

const modulesDir = join(import.meta.dirname, 'tools')
let building: { child: ChildProcess; dir: string } | undefined

/** Ends a build that is going on; what it has made so far does not count. */
export function stopBuild(): void {
  if (building === undefined) return
  try {
    // Its group: the compilers, too.
    process.kill(-(building.child.pid ?? 0), 'SIGKILL')
  } catch {
    // It has just ended.
  }
  rmSync(building.dir, { recursive: true, force: true })
}

/** Where the programs of each row are; the rows that are not in the cache yet are built, one after the other. */
export async function buildTools(rows: readonly Row[], say: (line: string) => void): Promise<Tools> {
  if (spawnSync('go', ['version']).status !== 0) {
    throw new NoGo(
      'The end-to-end stories build a real control plane from source: install Go 1.26 or newer, then try again.',
    )
  }
  const tools: Tools = {}
  for (const row of rows) {
    const dir = await buildRow(row, say)
    for (const name of readdirSync(dir)) tools[row === 'helm3' ? 'helm3' : name] = join(dir, name)
  }
  return tools
}

function cacheRoot(): string {
  const own = process.env.SWISS_E2E_CACHE
  if (own !== undefined && own !== '') return own
  const xdg = process.env.XDG_CACHE_HOME
  return join(xdg !== undefined && xdg !== '' ? xdg : join(homedir(), '.cache'), 'swiss-e2e-tools')
}

async function buildRow(row: Row, say: (line: string) => void): Promise<string> {
  const source = join(modulesDir, row)
  const mod = readFileSync(join(source, 'go.mod'), 'utf8')
  const sum = readFileSync(join(source, 'go.sum'), 'utf8')
  const packages = [...mod.matchAll(/^tool (\S+)$/gm)].map((m) => m[1] ?? '')
  const ldflags = LDFLAGS[row].replace('VERSION', requiredVersion(mod, packages[0] ?? ''))
  const hash = createHash('sha256').update([mod, sum, ldflags, process.platform, process.arch].join('\0'))
  const root = cacheRoot()
  const dir = join(root, `${row}-${hash.digest('hex').slice(0, 16)}`)
  if (existsSync(dir)) return dir

  mkdirSync(root, { recursive: true })
  removeAbandoned(root)
  // Renamed when it is whole, so that an interrupted build never counts.
  const temporary = join(root, `building-${process.pid}-${row}`)
  const start = performance.now()
  say(`building ${row} (the first time only)`)
  await goBuild(row, source, packages, ldflags, temporary, say)
  try {
    renameSync(temporary, dir)
  } catch (error) {
    // Another run was faster: its folder is as good as ours.
    rmSync(temporary, { recursive: true, force: true })
    if (!existsSync(dir)) throw error
  }
  say(`built ${row} in ${seconds(start)}`)
  return dir
}

function goBuild(
  row: Row,
  source: string,
  packages: string[],
  ldflags: string,
  output: string,
  say: (line: string) => void,
): Promise<void> {
  mkdirSync(output)
  const [first = '', ...others] = packages
  // Go names a program after its package's folder, which for etcd is `v3`.
  const target = others.length === 0 && /^v\d+$/.test(basename(first)) ? join(output, row) : `${output}/`
  const args = ['build', '-v', '-mod=readonly', '-trimpath', '-ldflags', ldflags, '-o', target, ...packages]
  const env = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-buildvcs=false', GOWORK: 'off' }
  const child = spawn('go', args, { cwd: source, env, detached: true, stdio: ['ignore', 'ignore', 'pipe'] })
  building = { child, dir: output }
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL)
  const start = performance.now()
  // With -v go names each package on stderr as it is compiled, and errors come there, too.
  let lines: string[] = []
  let rest = ''
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    const parts = (rest + chunk).split('\n')
    rest = parts.pop() ?? ''
    lines = lines.concat(parts)
  })
  const ticker = setInterval(() => {
    say(
      `  ${row}: ${seconds(start)}, ${lines.length} packages done, now ${lines.at(-1) ?? 'reading modules'}`,
    )
  }, 20_000)
  return new Promise<void>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => {
      if (code === 0) return resolve()
      rmSync(output, { recursive: true, force: true })
      reject(
        new Error(
          `go build of ${row} ended with ${signal ?? code}:\n${[...lines, rest].slice(-20).join('\n')}`,
        ),
      )
    })
  }).finally(() => {
    clearInterval(ticker)
    building = undefined
  })
}

/** The version of the module that the package is part of, as its go.mod line has it. */
function requiredVersion(mod: string, pkg: string): string {
  for (const [, path = '', version = ''] of mod.matchAll(
    /^(?:require)?\s+(\S+) (v\S+)(?: \/\/ indirect)?$/gm,
  )) {
    if (pkg === path || pkg.startsWith(`${path}/`)) return version
  }
  throw new Error(`go.mod requires no module for ${pkg}`)
}

/** Folders of builds whose process is gone (kill -9, a power cut). */
function removeAbandoned(root: string): void {
  for (const name of readdirSync(root)) {
    const pid = Number(/^building-(\d+)-/.exec(name)?.[1] ?? 0)
    if (pid === 0 || pid === process.pid) continue
    try {
      process.kill(pid, 0)
    } catch {
      rmSync(join(root, name), { recursive: true, force: true })
    }
  }
}
