import { spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { notFound, outputOf } from '../../../services/helm/result.ts'
import { HelmRunner, type HelmRunnerOptions, type RunLease } from '../../../services/helm/runner.ts'
import type { Logger } from '../../../services/runtime/logger.ts'
import { FakeClock } from '../support/fakeClock.ts'
import { makeScripts } from './helmScript.ts'

const scripts = makeScripts()
afterAll(() => scripts.cleanUp())

const quiet = () => {}
const logger: Logger = { debug: quiet, info: quiet, warn: quiet, error: quiet }
const chat = { namespace: 'team-a', name: 'chat' }

/** A helm with a child, both of which hold the pipe open and ignore TERM. It says its supervisor's pid. */
const STUBBORN = `trap '' TERM INT
exec 9>"$LIFE"
(trap '' TERM INT; sleep 600) &
echo "$PPID" >&9
sleep 600
wait`

function runnerOf(body: string, options: Partial<HelmRunnerOptions> & { life?: string } = {}) {
  const clock = new FakeClock()
  const runner = new HelmRunner({
    helmBin: scripts.helm(body),
    supervisorPath: scripts.supervisorPath,
    env: {
      PATH: process.env.PATH,
      LIFE: options.life,
      KUBECONFIG: '/nowhere/config',
      HELM_KUBECONTEXT: 'lab',
    },
    clock,
    logger,
    ...options,
  })
  const stop = new AbortController()
  return { runner, clock, stop, run: () => runner.uninstall(chat, { lease: null, signal: stop.signal }) }
}

function leaseOf(clock: FakeClock, heldForMs: number) {
  const lost = new AbortController()
  const listeners = new Set<(deadline: number) => void>()
  const lease: RunLease = {
    deadline: clock.now() + heldForMs,
    lost: lost.signal,
    onRenewed(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
  return { lease, lost, listeners }
}

describe('a run', () => {
  test('has exactly the arguments of the contract, and everything else by environment', async () => {
    const { run } = runnerOf('for a in "$@"; do echo "<$a>"; done; echo "$KUBECONFIG $HELM_KUBECONTEXT" >&2')
    expect(await run()).toEqual({
      kind: 'exited',
      code: 0,
      stdout: '<uninstall>\n<chat>\n<--namespace>\n<team-a>\n',
      stderr: '/nowhere/config lab\n',
    })
  })

  test('tells helm’s exit code and what it printed, as it printed it', async () => {
    const { run } = runnerOf('echo out; echo "Error: timed out — waiting" >&2; exit 7')
    const result = await run()
    expect(result).toEqual({
      kind: 'exited',
      code: 7,
      stdout: 'out\n',
      stderr: 'Error: timed out — waiting\n',
    })
    expect(outputOf(result)).toBe('out\nError: timed out — waiting')
    expect(notFound(result)).toBe(false)
  })

  test('B003 knows helm’s words for a release that is not there', async () => {
    const { run } = runnerOf(
      'echo "Error: uninstall: Release not loaded: chat: release: not found" >&2; exit 1',
    )
    expect(notFound(await run())).toBe(true)
    const good = runnerOf('echo "release: not found" >&2')
    expect(notFound(await good.run())).toBe(false)
  })

  test('B013 keeps the beginning and the end of 5 MiB of output, and how it ended', async () => {
    const { run } = runnerOf(
      'echo first; yes 0123456789abcde | head -c 5242880; echo last; echo "release: not found" >&2; exit 1',
    )
    const result = await run()
    expect(notFound(result)).toBe(true)
    if (result.kind !== 'exited') throw new Error(result.kind)
    expect(result.stdout).toMatch(/^first\n0123/)
    expect(result.stdout).toMatch(/bytes left out/)
    expect(result.stdout).toMatch(/e\nlast\n$/)
    expect(result.stdout.length).toBeLessThan(150 * 1024)
  })

  test('B013 that a signal from elsewhere ends is told as killed, whatever it has printed', async () => {
    const { run } = runnerOf('echo \'release "chat" uninstalled\'; kill -9 $$')
    const stdout = 'release "chat" uninstalled\n'
    expect(await run()).toEqual({ kind: 'killed', signal: 'SIGKILL', stdout, stderr: '' })
  })

  test('is over with helm, and takes along a child that helm has left behind', async () => {
    const life = scripts.life()
    const { run } = runnerOf('exec 9>"$LIFE"; sleep 600 & echo started >&9; echo done', { life: life.path })
    expect(await run()).toMatchObject({ kind: 'exited', code: 0, stdout: 'done\n' })
    await life.ended
  })

  test('B013 whose supervisor dies after helm has printed its success is no success', async () => {
    const go = scripts.pipe()
    const { run } = runnerOf(`echo 'release "chat" uninstalled'; kill -9 "$PPID"; read word < ${go}`)
    const over = run()
    expect(await over).toEqual({ kind: 'killed', signal: null, stdout: '', stderr: '' })
  })

  test('that cannot be started says why', async () => {
    const missing = runnerOf('', { helmBin: '/nowhere/helm' })
    expect(await missing.run()).toEqual({ kind: 'unstarted', message: 'helm could not be started (ENOENT)' })
    const plain = runnerOf('', { helmBin: scripts.folder })
    expect(await plain.run()).toEqual({ kind: 'unstarted', message: 'helm could not be started (EACCES)' })
    const alone = runnerOf('', { supervisorPath: `${scripts.folder}/nothing.mjs` })
    expect(await alone.run()).toEqual({
      kind: 'unstarted',
      message: 'the supervisor of helm did not start (exit 1)',
    })
  })

  test('of a name that could be an option is none', async () => {
    const { runner, stop } = runnerOf('echo ran')
    for (const ref of [
      { namespace: 'team-a', name: '--all' },
      { namespace: '-n', name: 'chat' },
      { namespace: '', name: 'x' },
    ]) {
      expect(await runner.uninstall(ref, { lease: null, signal: stop.signal })).toMatchObject({
        kind: 'unstarted',
      })
    }
  })

  test('does not begin when its right to is gone already', async () => {
    const ran = join(scripts.folder, 'ran')
    const { runner, clock, stop, run } = runnerOf(`echo ran > ${ran}`)
    const { lease, lost } = leaseOf(clock, 60_000)
    lost.abort()
    expect(await runner.uninstall(chat, { lease, signal: stop.signal })).toMatchObject({ kind: 'lost' })
    const late = leaseOf(clock, -1).lease
    expect(await runner.uninstall(chat, { lease: late, signal: stop.signal })).toMatchObject({ kind: 'lost' })
    stop.abort()
    expect(await run()).toMatchObject({ kind: 'lost' })
    expect(existsSync(ran)).toBe(false)
  })
})

describe('helm, its children and a TERM that it ignores', () => {
  test('B007 end when the budget is over', async () => {
    const life = scripts.life()
    const { runner, clock, run } = runnerOf(STUBBORN, { life: life.path })
    const over = run()
    await life.started
    expect(runner.running).toBe(1)
    await clock.advance(15 * 60_000 - 1)
    expect(runner.running).toBe(1)
    await clock.advance(1)
    expect(await over).toMatchObject({ kind: 'budget' })
    await life.ended
    expect(runner.running).toBe(0)
    expect(clock.pending).toBe(0)
  })

  test('end when the gateway gives the run up', async () => {
    const life = scripts.life()
    const { clock, stop, run } = runnerOf(STUBBORN, { life: life.path })
    const over = run()
    await life.started
    stop.abort()
    expect(await over).toMatchObject({ kind: 'lost' })
    await life.ended
    expect(clock.pending).toBe(0)
  })

  test('end when the lease is lost', async () => {
    const life = scripts.life()
    const { runner, clock, stop } = runnerOf(STUBBORN, { life: life.path })
    const { lease, lost, listeners } = leaseOf(clock, 600_000)
    const over = runner.uninstall(chat, { lease, signal: stop.signal })
    await life.started
    lost.abort()
    expect(await over).toMatchObject({ kind: 'lost' })
    await life.ended
    expect(listeners.size).toBe(0)
  })

  test('end by the deadline of the last renewal when the gateway says nothing more', async () => {
    const life = scripts.life()
    const { runner, clock, stop } = runnerOf(STUBBORN, { life: life.path })
    const { lease, listeners } = leaseOf(clock, 600_000)
    const over = runner.uninstall(chat, { lease, signal: stop.signal })
    await life.started
    // The gateway's clock stands still from here on, as in a process that hangs.
    for (const renewed of listeners) renewed(clock.now() + 50)
    expect(await over).toMatchObject({ kind: 'lost' })
    await life.ended
  })

  test('go on past a deadline that has been renewed', async () => {
    const life = scripts.life()
    const { runner, clock, stop } = runnerOf('exec 9>"$LIFE"; echo started >&9; sleep 1', { life: life.path })
    const { lease, listeners } = leaseOf(clock, 600_000)
    const over = runner.uninstall(chat, { lease, signal: stop.signal })
    await life.started
    for (const renewed of listeners) {
      renewed(clock.now() + 500)
      renewed(clock.now() + 600_000)
    }
    expect(await over).toMatchObject({ kind: 'exited', code: 0 })
  })

  test('end when all pipes break, as they do when the gateway dies', async () => {
    const lives = [scripts.life(), scripts.life()]
    const runners = lives.map((life) => runnerOf(STUBBORN, { life: life.path }))
    const results = runners.map(({ run }) => run())
    await Promise.all(lives.map((life) => life.started))
    await Promise.all(runners.map(({ runner }) => runner.killAll()))
    await Promise.all(lives.map((life) => life.ended))
    for (const result of results) expect(await result).toMatchObject({ kind: 'lost' })
  })

  test('do not end by a TERM or Ctrl-C to the supervisor, which is the gateway’s to handle', async () => {
    const life = scripts.life()
    const go = scripts.pipe()
    const { run } = runnerOf(`exec 9>"$LIFE"; echo "$PPID" >&9; read word < ${go}; exit 3`, {
      life: life.path,
    })
    const over = run()
    const supervisor = Number(await life.started)
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.kill(supervisor, signal)
    writeFileSync(go, 'on\n')
    expect(await over).toMatchObject({ kind: 'exited', code: 3 })
  })

  test('B007 B015 end with a gateway that is killed with -9', { timeout: 60_000 }, async () => {
    const life = scripts.life()
    const gateway = spawn(
      process.execPath,
      ['--import', 'tsx', fileURLToPath(new URL('./gatewayProcess.ts', import.meta.url))],
      {
        env: {
          ...process.env,
          LIFE: life.path,
          HELM: scripts.helm(STUBBORN),
          SUPERVISOR: scripts.supervisorPath,
        },
        stdio: 'inherit',
      },
    )
    await life.started
    gateway.kill('SIGKILL')
    await life.ended
  })

  test('B013 end with their supervisor, killed as it may be, and are no success', async () => {
    const life = scripts.life()
    const { run } = runnerOf(STUBBORN, { life: life.path })
    const over = run()
    process.kill(Number(await life.started), 'SIGKILL')
    expect(await over).toEqual({ kind: 'killed', signal: null, stdout: '', stderr: '' })
    await life.ended
  })

  test('end even when their supervisor hangs', async () => {
    const life = scripts.life()
    const { run, clock, stop } = runnerOf(STUBBORN, { life: life.path })
    const over = run()
    process.kill(Number(await life.started), 'SIGSTOP')
    stop.abort()
    await clock.advance(5000)
    expect(await over).toMatchObject({ kind: 'lost' })
    await life.ended
  })
})

describe('the helm of this machine', () => {
  const found = async (body: string, options: Partial<HelmRunnerOptions> = {}) =>
    runnerOf(body, options).runner.available()

  test('B013 tells its version, whatever it warns of on either stream', async () => {
    expect(await found('[ "$*" = "version --short" ] && echo v4.3.1+gabcdef')).toEqual({
      version: 'v4.3.1+gabcdef',
    })
    expect(
      await found('echo "WARNING: Kubernetes configuration file is group-readable" >&2; echo v3.22.0+g1'),
    ).toEqual({ version: 'v3.22.0+g1' })
    expect(await found('echo "WARNING: deprecated"; echo v3.22.0')).toEqual({ version: 'v3.22.0' })
  })

  test('B013 is missing when it is not there, too old, or says nothing with exit code 0', async () => {
    expect(await found('', { helmBin: '/nowhere/helm' })).toEqual({
      missing: 'there is no /nowhere/helm on this machine',
    })
    expect(await found('', { helmBin: scripts.folder })).toEqual({
      missing: `${scripts.folder} may not be executed`,
    })
    expect(await found('echo "Client: v2.17.0+g1"')).toEqual({
      missing: 'helm v2.17.0+g1 is too old; helm 3 or 4 is needed',
    })
    expect(await found('exit 0')).toEqual({ missing: expect.stringContaining('does not tell its version') })
  })

  test('is looked for again while it is missing, and once when it is there', async () => {
    const counter = `${scripts.folder}/looks`
    const { runner } = runnerOf(`echo look >> ${counter}; [ -e ${counter}.there ] && echo v4.3.1`)
    const looks = () => readFileSync(counter, 'utf8').split('\n').length - 1
    expect(await runner.available()).toHaveProperty('missing')
    writeFileSync(`${counter}.there`, '')
    expect(await Promise.all([runner.available(), runner.available()])).toEqual([
      { version: 'v4.3.1' },
      { version: 'v4.3.1' },
    ])
    expect(looks()).toBe(2)
    expect(await runner.available()).toEqual({ version: 'v4.3.1' })
    expect(looks()).toBe(2)
  })
})
