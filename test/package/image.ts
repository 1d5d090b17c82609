/**
 * npm run image: performs the Dockerfile's own steps in root folders made by debootstrap, where no image registry
 * can be reached, and starts the result as its user. Needs root, debootstrap and a helm on the PATH (HELM_BIN).
 */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { basename, dirname, isAbsolute, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readDockerfile } from './dockerfile.ts'
import { tryOut } from './trial.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const NODE = '24'
/** Where this machine's own certificate authorities are while an image is built. */
const AUTHORITIES = '/root/authorities.pem'

interface Stage {
  root: string
  workdir: string
  env: Record<string, string>
  user: string
  entrypoint: string[]
}

const folder = mkdtempSync(join(tmpdir(), 'swiss-image-'))
const run = (bin: string, ...args: string[]): void => {
  execFileSync(bin, args, { stdio: ['ignore', 'ignore', 'inherit'] })
}

/** What stands for the base image: Debian's smallest root with Node and npm, and this machine's way to the registry. */
function makeBase(): string {
  const base = join(folder, 'base')
  run('debootstrap', '--variant=minbase', '--include=ca-certificates', ...suiteAndMirror(base))
  const node = join(folder, 'node')
  mkdirSync(node)
  run('npm', 'install', '--silent', '--no-audit', '--no-fund', '--prefix', node, `node@${NODE}`)
  const binary = execFileSync(join(node, 'node_modules/.bin/node'), ['-p', 'process.execPath'], {
    encoding: 'utf8',
  })
  cpSync(binary.trim(), join(base, 'usr/local/bin/node'))
  const npm = execFileSync('npm', ['root', '--global'], { encoding: 'utf8' }).trim()
  cpSync(join(npm, 'npm'), join(base, 'usr/local/lib/node_modules/npm'), { recursive: true })
  run('ln', '-s', '../lib/node_modules/npm/bin/npm-cli.js', join(base, 'usr/local/bin/npm'))
  const authorities = process.env.NODE_EXTRA_CA_CERTS
  if (authorities !== undefined) cpSync(authorities, join(base, AUTHORITIES), { dereference: true })
  for (const file of ['/etc/resolv.conf', '/etc/hosts']) {
    if (existsSync(file)) cpSync(file, join(base, file), { dereference: true })
  }
  return base
}

/** The suite and the mirror that this machine installs from. */
function suiteAndMirror(target: string): [string, string, string] {
  const release = readFileSync('/etc/os-release', 'utf8')
  const suite = /^VERSION_CODENAME=(\w+)/m.exec(release)?.[1] ?? 'stable'
  const sources = execFileSync('apt-get', ['indextargets', '--format', '$(SITE)', 'Created-By: Packages'], {
    encoding: 'utf8',
  })
  const mirror = sources.split('\n').find((site) => /debian\/?$/.test(site))
  if (mirror === undefined) throw new Error('apt names no mirror of Debian')
  return [suite, target, mirror]
}

/** Runs a command in a stage as `docker` would: its environment, its working directory. */
function inside({ root, workdir, env }: Stage, command: string): void {
  const words = [
    '-i',
    'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    'HOME=/root',
    `NODE_EXTRA_CA_CERTS=${AUTHORITIES}`,
  ]
  const own = Object.entries(env).map(([key, value]) => `${key}=${value}`)
  run('chroot', root, '/usr/bin/env', ...words, ...own, '/bin/sh', '-c', `cd '${workdir}' && ${command}`)
}

function copy(stage: Stage, from: string, sources: string[], target: string): void {
  const to = isAbsolute(target) ? join(stage.root, target) : join(stage.root, stage.workdir, target)
  for (const source of sources) {
    const path = join(from, source)
    if (!existsSync(path)) throw new Error(`COPY ${source}: it is not there`)
    const place = target.endsWith('/') ? join(to, basename(source)) : to
    mkdirSync(dirname(place), { recursive: true })
    cpSync(path, place, { recursive: true, verbatimSymlinks: true })
  }
}

function build(base: string, context: string): Stage {
  const stages = new Map<string, Stage>()
  let stage: Stage | undefined
  for (const step of readDockerfile(readFileSync(join(ROOT, 'Dockerfile'), 'utf8'), { BASE: base })) {
    if (step.kind === 'from') {
      const root = join(folder, `stage-${stages.size}`)
      run('cp', '-a', step.base, root)
      stage = { root, workdir: '/', env: {}, user: '0:0', entrypoint: [] }
      stages.set(step.name ?? `${stages.size}`, stage)
      continue
    }
    if (!stage) throw new Error('the Dockerfile does not begin with FROM')
    console.log(`  ${JSON.stringify(step)}`)
    if (step.kind === 'run') inside(stage, step.command)
    else if (step.kind === 'workdir') {
      stage.workdir = step.path
      mkdirSync(join(stage.root, step.path), { recursive: true })
    } else if (step.kind === 'env') stage.env[step.key] = step.value
    else if (step.kind === 'user') stage.user = step.user
    else if (step.kind === 'entrypoint') stage.entrypoint = step.words
    else if (step.kind === 'copy') {
      const from = step.from === null ? context : stages.get(step.from)?.root
      if (from === undefined) throw new Error(`there is no stage ${step.from}`)
      copy(stage, from, step.sources, step.target)
    }
  }
  if (!stage) throw new Error('the Dockerfile makes nothing')
  return stage
}

function makeContext(): string {
  const context = join(folder, 'context')
  mkdirSync(context)
  const allowed = readFileSync(join(ROOT, '.dockerignore'), 'utf8').match(/(?<=^!).+/gm) ?? []
  for (const name of allowed) {
    if (name !== 'helm') cpSync(join(ROOT, name), join(context, name), { recursive: true })
  }
  const helm = process.env.HELM_BIN ?? execFileSync('which', ['helm'], { encoding: 'utf8' }).trim()
  cpSync(helm, join(context, 'helm'), { dereference: true })
  return context
}

let failed = 0
try {
  const base = makeBase()
  // npm's own settings of this machine, for the build alone: they are no part of what is built.
  const settings = join(homedir(), '.npmrc')
  if (existsSync(settings)) cpSync(settings, join(base, 'root/.npmrc'))
  const registry = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8', cwd: tmpdir() })
  writeFileSync(join(base, 'root/.npmrc'), `\nregistry=${registry}`, { flag: 'a' })
  const image = build(base, makeContext())
  const size = execFileSync('du', ['-sm', join(image.root, 'opt/swiss')], { encoding: 'utf8' }).split('\t')[0]
  const own = Object.entries(image.env).map(([key, value]) => `${key}=${value}`)
  const rows = await tryOut(
    [
      'chroot',
      `--userspec=${image.user}`,
      image.root,
      '/usr/bin/env',
      '-i',
      'PATH=/usr/local/bin:/usr/bin:/bin',
      ...own,
      ...image.entrypoint,
      'sandbox',
      '--port',
      '0',
    ],
    { cwd: folder },
  )
  console.log(`as ${image.user} it lists ${rows} releases; /opt/swiss has ${size} MB`)
} catch (error) {
  console.log(error instanceof Error ? error.message : error)
  failed = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
console.log(`image: ${1 - failed} passed, ${failed} failed, 0 skipped`)
process.exitCode = failed
