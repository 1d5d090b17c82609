/** How it ends: nothing of it is left running, whoever ends it and in whatever way. */
import { existsSync } from 'node:fs'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { EventSource } from '../unit/server/eventSource.ts'
import { SocketClient } from '../unit/server/socketClient.ts'
import { ROOT } from './support/built.ts'
import { startCluster, startSandbox } from './support/gateway.ts'
import { type Child, Processes } from './support/processes.ts'
import { descendantsOf, isAlive } from './support/processTree.ts'
import { until, within } from './support/until.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 60_000 })

const processes = new Processes()
afterAll(() => processes.stop())

/** Ids of the processes below one: the cluster's is the one that runs `sandbox/main`. */
function below(child: Child): { all: number[]; cluster: number } {
  const all = descendantsOf(child.pid)
  const cluster = all.find(({ command }) => /sandbox\/main\.js/.test(command))?.pid ?? 0
  expect(cluster).toBeGreaterThan(0)
  return { all: all.map(({ pid }) => pid), cluster }
}

const noneOf = (pids: number[]): Promise<true> =>
  until('the end of all processes', () => pids.filter(isAlive).length === 0, 15_000)

describe('npm start', () => {
  it('passes its flags on, and ends all of it at Ctrl-C', async () => {
    const npm = processes.start('npm', ['start', '--', '--port', '0', '--cluster-name', 'from-npm'], {
      cwd: ROOT,
      detached: true,
      env: { npm_config_update_notifier: 'false', npm_config_cache: `${processes.dir}/npm` },
    })
    // It builds first.
    await npm.says(/Ctrl-C ends both/, 150_000)
    const [url = ''] = /http:\S+\/graphql/.exec(npm.stdout) ?? []
    const answer = await fetch(`${url}?query={cluster{name}}`)
    expect(await answer.json()).toEqual({ data: { cluster: { name: 'from-npm' } } })

    const { all } = below(npm)
    // What a terminal does: everybody in the foreground group gets the signal.
    process.kill(-npm.pid, 'SIGINT')
    await within('the end of npm', npm.ended, 15_000)
    await noneOf(all)
    expect(npm.stderr).toBe('')
  })
})

describe('the sandbox', () => {
  it('ends in time at SIGTERM with streams open: 1001, exit code 0, nothing left', async () => {
    const gateway = await (await startSandbox(processes)).ready()
    const socket = await SocketClient.open(gateway.url)
    socket.subscribe('subscription { deploymentPhaseChanged(snapshot: true) { kind } }')
    expect(await socket.next()).toMatchObject({ type: 'next' })
    const events = await EventSource.open(gateway.url, 'subscription { deploymentPhaseChanged { kind } }')
    expect(await events.next()).toEqual({})
    const [, kubeconfig = ''] = /kubectl --kubeconfig (\S+)/.exec(gateway.child.stdout) ?? []
    expect(existsSync(kubeconfig)).toBe(true)

    const { all } = below(gateway.child)
    gateway.child.kill('SIGTERM')
    expect(await within('the close of the socket', socket.closed, 10_000)).toMatchObject({ code: 1001 })
    expect(await within('the end of the events', events.message(), 10_000)).toBeNull()
    expect(await within('the end of the process', gateway.child.ended, 15_000)).toBe(0)
    await noneOf(all)
    expect(existsSync(kubeconfig)).toBe(false)
    expect(gateway.child.stderr).toBe('')
  })

  it('takes its cluster with it when it is killed', async () => {
    const { child } = await startSandbox(processes)
    const { all, cluster } = below(child)
    expect(isAlive(cluster)).toBe(true)
    child.kill('SIGKILL')
    expect(await child.ended).toBe('SIGKILL')
    await noneOf(all)
  })

  it('ends with one sentence when its cluster dies', async () => {
    const { child } = await startSandbox(processes, ['--log-level', 'silent'])
    const { all, cluster } = below(child)
    process.kill(cluster, 'SIGKILL')
    expect(await within('the end of the gateway', child.ended, 15_000)).toBe(1)
    expect(child.stderr).toMatch(/^The sandbox cluster is gone \([^\n]+\); [^\n]+\.\n$/)
    await noneOf(all)
  })

  it('ends as a cluster alone, too', async () => {
    const cluster = await startCluster(processes)
    const { all } = below(cluster.child)
    cluster.child.kill('SIGINT')
    expect(await within('the end of the process', cluster.child.ended, 15_000)).toBe(0)
    await noneOf(all)
    expect(existsSync(cluster.kubeconfig)).toBe(false)
  })
})
