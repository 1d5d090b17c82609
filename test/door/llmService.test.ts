/**
 * An LLMService of `npm start`'s sandbox is taken away, as the README says it, word for word: its operator tears it
 * down stage by stage, everybody can follow, and nothing is left behind.
 */
import { createClient } from 'graphql-ws'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import { ClusterEye } from './support/cluster.ts'
import { type Gateway, startSandbox } from './support/gateway.ts'
import { type Child, Processes } from './support/processes.ts'
import { examplesFor } from './support/readme.ts'
import { until, within } from './support/until.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

interface Progress {
  phase: string
  goneBecause: string | null
  deletion: { stage: string | null; outcome: string | null; podsRemaining: number | null } | null
}

const release = { namespace: 'team-b', name: 'code-review' }
const processes = new Processes()
let gateway: Gateway
let cluster: ClusterEye

beforeAll(async () => {
  gateway = await (await startSandbox(processes)).ready()
  const [, kubeconfig = ''] = await gateway.child.says(/KUBECONFIG=(\S+)/)
  cluster = new ClusterEye(kubeconfig)
})

afterAll(async () => {
  cluster?.close()
  await processes.stop()
})

/** What `deletionProgressed` says until it completes. */
async function deletion(): Promise<Progress[]> {
  const client = createClient({
    url: gateway.url.replace('http', 'ws'),
    webSocketImpl: WebSocket,
    retryAttempts: 0,
  })
  const query = `subscription ($namespace: String!, $name: String!) {
    deletionProgressed(namespace: $namespace, name: $name) {
      phase goneBecause deletion { stage outcome podsRemaining }
    }
  }`
  const events: Progress[] = []
  try {
    for await (const { data, errors } of client.iterate<{ deletionProgressed: Progress }>({
      query,
      variables: release,
    })) {
      expect(errors).toBeUndefined()
      if (data) events.push(data.deletionProgressed)
    }
  } finally {
    await client.dispose()
  }
  return events
}

it('goes stage by stage, and leaves nothing behind', async () => {
  const { backend, phase } = await gateway.row('team-b', 'code-review', 'backend phase')
  expect([backend, phase]).toEqual(['LLMSERVICE', 'APPLIED'])
  expect(await cluster.leftOf('team-b', 'code-review')).toEqual(
    expect.arrayContaining(['LLMService/code-review', 'Deployment/code-review-sglang']),
  )

  const [example = ''] = examplesFor(gateway.url).deletions
  const curl: Child = processes.start('/bin/sh', ['-e', '-c', example])
  await curl.says(/"uninstallRelease":\{"__typename":"UninstallReleasePayload"\}/)
  const events = await within('the end of the deletion', deletion(), 90_000)

  const stages = events.flatMap((event) => event.deletion?.stage ?? [])
  expect([...new Set(stages)]).toEqual(['RouteSettling', 'HelmUninstalling', 'PodsTerminating', 'Finalizing'])
  const waiting = events.filter((event) => event.deletion?.stage === 'PodsTerminating')
  expect(waiting[0]?.deletion?.podsRemaining).toBe(1)
  const [last, ...before] = [...events].reverse()
  expect(last).toEqual({ phase: 'GONE', goneBecause: 'UNINSTALLED', deletion: null })
  for (const { phase, goneBecause } of before) expect([phase, goneBecause]).toEqual(['UNINSTALLING', null])
  expect(before[0]?.deletion?.outcome).toBe('Completed')

  // What the README shows ends by itself, and has told the same.
  expect(await within('the end of curl', curl.ended, 30_000)).toBe(0)
  for (const stage of new Set(stages)) expect(curl.stdout).toContain(`"stage":"${stage}"`)
  expect(curl.stdout).toContain('"phase":"GONE"')

  expect(await gateway.row('team-b', 'code-review', 'phase')).toBeNull()
  await until('nothing is left of it', async () => {
    const left = await cluster.leftOf('team-b', 'code-review')
    if (left.length > 0) throw new Error(left.join(', '))
    return true
  })
  // Its neighbours stay.
  expect(await cluster.leftOf('team-b', 'assistant')).toEqual(
    expect.arrayContaining(['LLMService/assistant', 'LLMService/assistant-canary']),
  )
  expect(await gateway.runs('team-b', 'code-review')).toMatchObject([
    { action: 'UNINSTALL', outcome: 'SUCCEEDED', error: null, endedAt: expect.any(String) },
  ])
  expect(gateway.child.stderr).toBe('')
})
