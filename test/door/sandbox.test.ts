/**
 * The sandbox as a stranger meets it: one process, what it prints and what the README says to try, word for word, and
 * an uninstall that everybody watches to its end.
 */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { EventSource } from '../unit/server/eventSource.ts'
import { ROOT } from './support/built.ts'
import { type Gateway, startSandbox } from './support/gateway.ts'
import { changesOf, type Follower, followEvents, followSocket } from './support/phases.ts'
import { type Child, Processes } from './support/processes.ts'
import { type Examples, examplesFor } from './support/readme.ts'
import { until, within } from './support/until.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const processes = new Processes()
let gateway: Gateway
/** The three commands that the sandbox prints, in their order. */
let commands: string[]
/** What the README calls a gateway with. */
let examples: Examples
/** Connections that somebody has made to the cluster of the user's kubeconfig. */
let toTheUsersCluster = 0
const decoy = createServer((socket) => {
  toTheUsersCluster++
  socket.destroy()
})

const sh = (command: string): Child => processes.start('/bin/sh', ['-e', '-c', command])

/** The data that a command of curl prints; it must have no errors. */
async function dataOf(command: string): Promise<unknown> {
  const child = sh(command)
  expect(await within('the end of curl', child.ended, 30_000)).toBe(0)
  const { data, errors } = JSON.parse(child.stdout)
  expect(errors).toBeUndefined()
  return data
}

beforeAll(async () => {
  await new Promise<void>((resolve) => decoy.listen(0, '127.0.0.1', resolve))
  const { port } = decoy.address() as AddressInfo
  const kubeconfig = join(processes.dir, '.kube', 'config')
  mkdirSync(join(processes.dir, '.kube'))
  writeFileSync(
    kubeconfig,
    `apiVersion: v1
kind: Config
current-context: mine
clusters: [{name: mine, cluster: {server: 'http://127.0.0.1:${port}'}}]
contexts: [{name: mine, context: {cluster: mine, user: me}}]
users: [{name: me, user: {token: secret}}]
`,
  )
  gateway = await startSandbox(processes, [], { KUBECONFIG: kubeconfig, SWISS_KUBECONFIG: kubeconfig })
  commands = gateway.child.stdout.split('\n').flatMap((line) => (/^ +curl /.test(line) ? [line.trim()] : []))
  examples = examplesFor(gateway.url)
})

afterAll(async () => {
  decoy.close()
  await processes.stop()
})

describe('what it prints', () => {
  it('says what it is, where it is, and three things to try', () => {
    expect(gateway.child.stdout).toMatch(/^This is a sandbox: /m)
    expect(gateway.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/graphql$/)
    expect(commands).toHaveLength(3)
    for (const command of commands) expect(command).toContain(gateway.url)
    expect(gateway.child.stderr).toBe('')
  })

  it('answers the first of them as soon as it is printed', async () => {
    expect(await dataOf(commands[0] ?? '')).toMatchObject({
      deployments: {
        nodes: expect.arrayContaining([{ namespace: 'team-a', name: 'chat', phase: 'APPLIED' }]),
      },
    })
  })

  it('has a helm that works as it is printed', async () => {
    const [command = ''] = /^ *KUBECONFIG=\S+ \S+ list .*$/m.exec(gateway.child.stdout) ?? []
    const child = sh(command)
    expect(await child.ended).toBe(0)
    expect(child.stdout).toMatch(/^NAME\s+NAMESPACE/)
    expect(child.stdout).toMatch(/^chat\s+team-a\s+3\s/m)
  })
})

describe('the examples of the README', () => {
  it('are a list, a stream and two uninstalls by curl, and a script of ten lines', () => {
    const { queries, streams, deletions, mutations, scripts, others } = examples
    expect([queries, streams, deletions, mutations, scripts].map(({ length }) => length)).toEqual([
      1, 1, 1, 1, 1,
    ])
    expect(others).toEqual([])
    expect(scripts[0]?.trim().split('\n').length).toBeLessThanOrEqual(10)
  })

  it('list the releases', async () => {
    await gateway.ready()
    for (const query of examples.queries) {
      expect(JSON.stringify(await dataOf(query))).toContain('"name":"chat","phase":"APPLIED"')
    }
  })
})

describe('its health', () => {
  it('is live', async () => {
    const response = await fetch(new URL('/healthz', gateway.url))
    expect([response.status, await response.json()]).toEqual([200, { live: true }])
  })

  it('is ready, with the state of each cache', async () => {
    await gateway.ready()
    const response = await fetch(new URL('/readyz', gateway.url))
    const { ready, caches } = await response.json()
    expect([response.status, ready]).toEqual([200, true])
    const kinds = caches.map(({ kind }: { kind: string }) => kind)
    expect(kinds).toEqual(expect.arrayContaining(['ConfigMap', 'Secret', 'Pod', 'Node', 'LLMService']))
    for (const cache of caches) {
      expect(cache).toMatchObject({ synced: true, lastError: null })
      expect(cache.lastEventAgeSeconds).toBeGreaterThanOrEqual(0)
    }
  })
})

describe('its releases', () => {
  it('are listed with one phase each', async () => {
    const { deployments } = await gateway.ask(
      '{ deployments { totalCount nodes { namespace name backend phase phaseReason drift { kind } } } }',
    )
    const phases = Object.fromEntries(
      deployments.nodes.map((row: Record<string, string>) => [row.name, row.phase]),
    )
    expect(phases).toEqual({
      chat: 'APPLIED',
      'docs-search': 'APPLIED',
      'legacy-chat': 'UNINSTALLING',
      rerank: 'APPLIED',
      research: 'APPLIED',
      summarize: 'FAILED',
      translate: 'UNKNOWN',
      assistant: 'APPLIED',
      'assistant-canary': 'APPLIED',
      'code-review': 'APPLIED',
    })
    expect(deployments.totalCount).toBe(10)
    const translate = deployments.nodes.find((row: { name: string }) => row.name === 'translate')
    expect(translate).toMatchObject({ drift: { kind: 'UNREADABLE' } })
    expect(translate.phaseReason).toContain('plan.yaml')
  })

  it('hold GPUs, also while a pod on a lost node keeps one of them', async () => {
    const row = await gateway.row(
      'team-a',
      'legacy-chat',
      'phase pods { gpus } deletion { stage podsRemaining note requestedBy blockers { kind message } }',
    )
    expect(row).toMatchObject({
      phase: 'UNINSTALLING',
      pods: { gpus: 1 },
      deletion: { stage: 'PODS_TERMINATING', podsRemaining: 1, blockers: [{ kind: 'POD' }] },
    })
  })

  it('are LLMServices too: standalone, referenced by a canary, and owned by one', async () => {
    const { deployments } = await gateway.ask(
      '{ deployments(filter: { namespaces: ["team-b"] }) { nodes { name backend canary { state } } } }',
    )
    expect(deployments.nodes).toEqual([
      { name: 'assistant', backend: 'LLMSERVICE', canary: { state: 'REFERENCED' } },
      { name: 'assistant-canary', backend: 'LLMSERVICE', canary: { state: 'OWNED' } },
      { name: 'code-review', backend: 'LLMSERVICE', canary: { state: 'STANDALONE' } },
    ])
  })
})

describe('an uninstall', () => {
  let socket: Follower
  let events: Follower
  /** What the sandbox has printed, and what the README shows, each in a process of its own. */
  const watchers: Child[] = []
  const followers: Follower[] = []

  afterAll(async () => {
    for (const follower of followers) await follower.stop()
  })

  it('is watched over graphql-ws, over SSE, by curl and by a script at once, until GONE', async () => {
    socket = followSocket(gateway.url)
    events = await followEvents(gateway.url)
    followers.push(socket, events)
    for (const stream of [commands[1] ?? '', ...examples.streams]) watchers.push(sh(stream))
    // As in the folder of the clone: what the script imports is there.
    symlinkSync(join(ROOT, 'node_modules'), join(processes.dir, 'node_modules'))
    for (const script of examples.scripts) {
      writeFileSync(join(processes.dir, 'watch.mjs'), script)
      watchers.push(processes.start(process.execPath, ['watch.mjs']))
    }
    await Promise.all([socket.synced(), events.synced()])
    for (const watcher of watchers) await watcher.says(/SNAPSHOT_COMPLETE/)

    expect(await dataOf(commands[2] ?? '')).toEqual({
      uninstallRelease: { __typename: 'UninstallReleasePayload' },
    })

    const fields = `phase pods { counting gpus } deletion {
      stage podsRemaining requestedBy pods { name counts reason } blockers { kind name message }
    }`
    const remaining = new Set<number>()
    const seen = await until('the pods of chat are terminating', async () => {
      const row = await gateway.row('team-a', 'chat', fields)
      expect(row.phase).toBe('UNINSTALLING')
      remaining.add(row.deletion.podsRemaining)
      return row.deletion.stage === 'PODS_TERMINATING' && row
    })
    expect(seen.deletion.requestedBy).toBe('anonymous')
    expect(seen.deletion.pods).toHaveLength(3)
    expect(seen.deletion.blockers.length).toBe(seen.deletion.podsRemaining)
    for (const { kind, name, message } of seen.deletion.blockers) {
      expect(kind).toBe('POD')
      expect(message).toContain(name)
    }
    expect(await gateway.uninstall({ namespace: 'team-a', name: 'chat' })).toMatchObject({
      __typename: 'UninstallReleasePayload',
      alreadyInProgress: true,
      output: 'uninstall already in progress',
    })
    for (const mutation of examples.mutations) {
      expect(await dataOf(mutation)).toMatchObject({
        uninstallRelease: {
          __typename: 'UninstallReleasePayload',
          alreadyInProgress: true,
          deployment: { phase: 'UNINSTALLING', deletion: { stage: 'PODS_TERMINATING' } },
        },
      })
    }
    await until('chat has left the list', async () => {
      const row = await gateway.row('team-a', 'chat', fields)
      if (row) remaining.add(row.deletion.podsRemaining)
      return row === null
    })
    // They leave one after the other, and never come back.
    expect([...remaining]).toEqual([...remaining].sort((a, b) => b - a))
    expect(remaining.size).toBeGreaterThan(2)
    await Promise.all([socket.reaches('chat', 'GONE'), events.reaches('chat', 'GONE')])
    for (const watcher of watchers) await watcher.says(/CHANGED\b.*\bchat\b.*\bGONE\b/)
  })

  it('ends for good: the release is nowhere, and its run has succeeded', async () => {
    const { deployment, release } = await gateway.ask(
      '{ deployment(namespace: "team-a", name: "chat") { phase } release(namespace: "team-a", name: "chat") { exists } }',
    )
    expect([deployment, release]).toEqual([null, null])
    expect(await gateway.runs('team-a', 'chat')).toMatchObject([
      {
        action: 'UNINSTALL',
        outcome: 'SUCCEEDED',
        error: null,
        actor: 'anonymous',
        endedAt: expect.any(String),
      },
    ])
    expect(await gateway.uninstall({ namespace: 'team-a', name: 'chat' })).toMatchObject({
      __typename: 'ReleaseNotFoundError',
      code: 'RELEASE_NOT_FOUND',
    })
  })

  it('that helm refuses is a HelmFailedError, a row that is FAILED and a run that says why', async () => {
    const answer = await gateway.uninstall({ namespace: 'team-a', name: 'rerank', waitFor: 'HELM' })
    expect(answer).toMatchObject({
      __typename: 'HelmFailedError',
      code: 'HELM_FAILED',
      exitCode: 1,
      output: expect.stringContaining('rerank-drain'),
      run: { outcome: 'FAILED' },
    })
    const row = await gateway.row('team-a', 'rerank', 'phase phaseReason drift { kind } deletion { stage }')
    expect(row).toMatchObject({
      phase: 'FAILED',
      phaseReason: expect.stringContaining('rerank-drain'),
      drift: { kind: 'LAST_UNINSTALL_FAILED' },
      deletion: null,
    })
    expect(await gateway.runs('team-a', 'rerank')).toMatchObject([
      { action: 'UNINSTALL', outcome: 'FAILED', error: expect.stringContaining('rerank-drain') },
    ])
  })

  it('was told once per change and in order, to everybody', async () => {
    // The changes of rerank came after those of chat: nothing more of chat is on its way.
    await Promise.all([socket.reaches('rerank', 'FAILED'), events.reaches('rerank', 'FAILED')])
    for (const { events: seen } of [socket, events]) {
      expect(changesOf(seen, 'chat')).toEqual(['APPLIED>UNINSTALLING', 'UNINSTALLING>GONE'])
      expect(changesOf(seen, 'rerank')).toEqual(['APPLIED>UNINSTALLING', 'UNINSTALLING>FAILED'])
      expect(seen.find(({ phase }) => phase === 'GONE')).toMatchObject({ goneBecause: 'UNINSTALLED' })
    }
    // Word for word the same, apart from where each of them began.
    const changes = (seen: Follower) => seen.events.filter(({ kind }) => kind === 'CHANGED')
    expect(changes(socket)).toEqual(changes(events))
    for (const { stdout, stderr } of watchers) {
      expect(stdout).toMatch(/SNAPSHOT\b.*\bchat\b.*\bAPPLIED\b/)
      expect(stdout.split('\n').filter((line) => /CHANGED\b.*\bchat\b/.test(line))).toEqual([
        expect.stringContaining('UNINSTALLING'),
        expect.stringContaining('GONE'),
      ])
      expect(stderr).toBe('')
    }
  })

  it('was told with an id on each server-sent event, which is its cursor', () => {
    expect(events.ids).toEqual(events.events.map(({ cursor }) => cursor))
    expect(new Set(events.ids.slice(-2)).size).toBe(2)
  })

  it('is taken up by Last-Event-ID without a gap and without a repetition', async () => {
    const { cursor } = await events.reaches('chat', 'UNINSTALLING')
    const back = await followEvents(gateway.url, '(snapshot: true)', { 'last-event-id': cursor })
    followers.push(back)
    await back.reaches('rerank', 'FAILED')
    expect(back.events.map(({ name, phase }) => `${name} ${phase}`)).toEqual([
      'chat GONE',
      'rerank UNINSTALLING',
      'rerank FAILED',
    ])
    const since = followSocket(gateway.url, `(since: "${cursor}")`)
    followers.push(since)
    await since.reaches('rerank', 'FAILED')
    expect(since.events).toEqual(back.events)
  })

  it('is waited for by a quiet stream whose first bytes come at once', async () => {
    const source = await EventSource.open(gateway.url, 'subscription { deploymentPhaseChanged { kind } }')
    // A comment: nothing has happened. The heartbeat would be one too, but not before 15 s.
    const began = performance.now()
    expect(await source.next()).toEqual({})
    expect(performance.now() - began).toBeLessThan(10_000)
    expect(source.response.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': expect.stringContaining('no-cache'),
    })
    source.close()
  })
})

it('never touches the cluster of the user', () => {
  expect(toTheUsersCluster).toBe(0)
})
