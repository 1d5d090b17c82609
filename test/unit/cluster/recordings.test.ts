import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import type { VersionedChange } from '../../../services/cluster/changes.ts'
import type { KubeObject } from '../../../services/cluster/kinds.ts'
import { Kinds } from '../../../services/cluster/kinds.ts'
import { Reflector } from '../../../services/cluster/reflector.ts'
import { json } from './support/fakeApi.ts'
import { startCluster } from './support/harness.ts'
import { until } from './support/until.ts'

interface Line {
  t: number
  event: { type: string; object: KubeObject }
}

function recording(version: string, name: string): Line[] {
  const path = fileURLToPath(new URL(`../../fixtures/recordings/${version}/${name}.jsonl`, import.meta.url))
  return readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)
}

/** Plays a recorded stream through a real socket, cut into pieces that never end at a line. */
async function play(
  lines: Line[],
): Promise<{ changes: VersionedChange<KubeObject>[]; status: ReturnType<Reflector<KubeObject>['status']> }> {
  const { api, client, clock, logger } = await startCluster()
  api.intercept = (request, response) =>
    !request.query.has('watch') && json(response, 200, { metadata: { resourceVersion: '2900' }, items: null })
  const changes: VersionedChange<KubeObject>[] = []
  const reflector = new Reflector<KubeObject>({
    client,
    kind: Kinds.Pod,
    clock,
    logger,
    random: () => 0.5,
    trim: (raw) => raw,
    onChange: (change) => changes.push(change),
  })
  const stop = reflector.start()
  await until('the watch', () => reflector.status().open)
  const bytes = Buffer.from(lines.map(({ event }) => `${JSON.stringify(event)}\n`).join(''))
  for (let at = 0; at < bytes.length; at += 1_777) api.watch.raw(bytes.subarray(at, at + 1_777))
  const last = lines.at(-1)?.event.object.metadata.resourceVersion
  await until('the last event', () => reflector.status().resourceVersion === last)
  const status = reflector.status()
  stop()
  return { changes, status }
}

const kindOf = ({ old, now }: VersionedChange<unknown>) =>
  old === undefined ? '+' : now === undefined ? '-' : '~'

describe.each(['helm-3.22.0', 'helm-4.3.1'])('the streams of a real API server, %s', (version) => {
  test('pods: each event is one change, the last of each pod its deletion, without managedFields', async () => {
    const lines = recording(version, 'pods')
    const { changes, status } = await play(lines)
    const events = lines.filter(({ event }) => event.type !== 'BOOKMARK')
    expect(changes).toHaveLength(events.length)
    expect(status).toMatchObject({ oddLines: 0, state: 'synced' })
    const names = new Set(changes.map(({ name }) => name))
    expect(names.size).toBe(3)
    for (const name of names) {
      const own = changes.filter((change) => change.name === name).map(kindOf)
      expect(own.join('')).toMatch(/^\+~+-$/)
    }
    const text = JSON.stringify(changes)
    expect(text).not.toContain('managedFields')
    // The kubelet's last word moves deletionTimestamp back and sets the grace to 0, before DELETED.
    const last = changes.filter(({ now }) => now !== undefined).at(-1)?.now
    expect(last?.metadata.deletionGracePeriodSeconds).toBe(0)
  })

  test('a label that is taken off and put back reads as a deletion and an addition', async () => {
    const { changes } = await play(recording(version, 'configmaps-selector'))
    expect(changes.map(kindOf).join('')).toBe('+~-+-')
    expect(new Set(changes.map(({ uid }) => uid)).size).toBe(1)
  })

  test("metadata-only Secrets: helm's records by their labels, and no payload", async () => {
    const { changes } = await play(recording(version, 'secrets-metadata'))
    const story = changes.map(
      (change) => `${kindOf(change)}${(change.now ?? change.old)?.metadata.labels?.status}`,
    )
    expect(story[0]).toBe('+pending-install')
    expect(story).toContain('~deployed')
    expect(story.slice(-2).every((part) => part.startsWith('-'))).toBe(true)
    for (const { now, old } of changes) expect(Object.keys(now ?? old ?? {})).not.toContain('data')
  })
})
