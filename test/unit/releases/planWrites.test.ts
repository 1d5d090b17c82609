import { beforeEach, describe, expect, test } from 'vitest'
import type { KubeClient } from '../../../services/cluster/client.ts'
import { KubeError } from '../../../services/cluster/errors.ts'
import { Kinds, type KubeObject } from '../../../services/cluster/kinds.ts'
import { listArchives, pruneArchives, readArchive, writeArchive } from '../../../services/plans/archives.ts'
import { type Begun, type PlanConfigMap, PlanWrites } from '../../../services/releases/planWrites.ts'
import { startSandbox } from '../cluster/support/sandbox.ts'

const chat = { namespace: 'team-a', name: 'chat' }
const planRef = { namespace: 'team-a', name: 'swiss-plan-chat' }
const begun: Begun = {
  action: 'apply',
  startedAt: '2031-01-01T00:00:00.000Z',
  actor: 'ada',
  note: 'more of it',
  forced: false,
}
const next = { 'plan.yaml': 'chart: {name: vllm}\nhash: new\n', 'form.yaml': 'replicas: 2\n' }

let client: KubeClient
let writes: PlanWrites
beforeEach(async () => {
  const sandbox = await startSandbox()
  client = sandbox.makeClient()
  writes = new PlanWrites(client)
  await client.create(Kinds.Namespace, { metadata: { name: 'team-a' } })
})

const existing = (data: Record<string, string> = {}) =>
  client.create<PlanConfigMap>(Kinds.ConfigMap, {
    metadata: {
      ...planRef,
      labels: { 'app.kubernetes.io/managed-by': 'swiss', team: 'blue' },
      annotations: { owner: 'grace' },
    },
    data: {
      'plan.yaml': 'chart: {name: vllm}\nhash: old\n',
      'catalog.yaml': 'a: 1\n',
      'edit.yaml': 'b: 1\n',
      'helmfile.yaml': 'releases: []\n',
      'status.yaml': 'phase: applied\nrevision: 3\nsite: lab\n',
      ...data,
    },
  })
const live = () => client.get<PlanConfigMap>(Kinds.ConfigMap, planRef)

describe('the plan of an operation that begins', () => {
  test('replaces the layers and keeps what is not its own: labels, annotations, keys and status keys of others', async () => {
    const outcome = await writes.begin(chat, await existing(), next, begun)
    expect(outcome.kind).toBe('written')
    const written = await live()
    expect(written.metadata).toMatchObject({ labels: { team: 'blue' }, annotations: { owner: 'grace' } })
    expect(written.data).toEqual({
      ...next,
      'helmfile.yaml': 'releases: []\n',
      'status.yaml': [
        'phase: applying',
        'action: apply',
        'revision: 3',
        'startedAt: 2031-01-01T00:00:00.000Z',
        'updatedAt: 2031-01-01T00:00:00.000Z',
        'note: more of it',
        'actor: ada',
        'site: lab',
        '',
      ]
        .join('\n')
        .replace(/(startedAt|updatedAt): (.*)/g, '$1: "$2"'),
    })
  })

  test('makes the plan of an install, with the label that says whose it is', async () => {
    expect(await writes.begin(chat, null, next, { ...begun, action: 'install' })).toMatchObject({
      kind: 'written',
    })
    expect(await live()).toMatchObject({
      metadata: { labels: { 'app.kubernetes.io/managed-by': 'swiss' } },
      data: { ...next, 'status.yaml': expect.stringContaining('phase: applying') },
    })
  })

  test('is written over a label that somebody has put there meanwhile, and keeps it', async () => {
    const looked = await existing()
    await client.patch(Kinds.ConfigMap, planRef, 'merge', {
      metadata: { labels: { seen: 'yes' } },
      data: { 'notes.txt': 'hello' },
    })
    expect(await writes.begin(chat, looked, next, begun)).toMatchObject({ kind: 'written' })
    expect(await live()).toMatchObject({
      metadata: { labels: { seen: 'yes' } },
      data: { ...next, 'notes.txt': 'hello' },
    })
  })

  test.each([
    ['a layer has been changed', { data: { 'edit.yaml': 'b: 2\n' } }, 'changed'],
    ['the status has been changed', { data: { 'status.yaml': 'phase: failed\n' } }, 'changed'],
    [
      'it has been marked',
      { metadata: { labels: { 'swiss.modelsphere.dev/phase': 'uninstalling' } } },
      'marked',
    ],
  ])('is not written when %s meanwhile', async (_what, patch, kind) => {
    const looked = await existing()
    const { data } = await client.patch(Kinds.ConfigMap, planRef, 'merge', patch)
    expect(await writes.begin(chat, looked, next, begun)).toEqual({ kind })
    expect((await live()).data).toEqual(data)
  })

  test('is not written over a plan that was made meanwhile, nor over one that was made anew', async () => {
    const looked = await existing()
    expect(await writes.begin(chat, null, next, begun)).toEqual({ kind: 'changed' })
    await client.delete(Kinds.ConfigMap, planRef)
    expect(await writes.begin(chat, looked, next, begun)).toEqual({ kind: 'changed' })
    await existing()
    expect(await writes.begin(chat, looked, next, begun)).toEqual({ kind: 'changed' })
    expect((await live()).data).toMatchObject({ 'edit.yaml': 'b: 1\n' })
  })

  test('B072 is refused for good by a plan that is immutable, and B069 by one that is full', async () => {
    const full = { ...next, 'edit.yaml': `x: ${'y'.repeat(1024 * 1024)}\n` }
    expect(await writes.begin(chat, await existing(), full, begun)).toMatchObject({ kind: 'refused' })
    await client.patch(Kinds.ConfigMap, planRef, 'merge', { immutable: true })
    expect(await writes.begin(chat, await live(), next, begun)).toMatchObject({ kind: 'refused' })
  })

  test('that got no answer is believed once it is there, and an error when it is not', async () => {
    const looked = await existing()
    const real = client.update.bind(client)
    let written = true
    client.update = async (...args: Parameters<typeof real>) => {
      if (written) await real(...args)
      throw new KubeError('Unavailable', 'cut off')
    }
    expect(await writes.begin(chat, looked, next, begun)).toMatchObject({ kind: 'written' })
    written = false
    const later = { ...begun, startedAt: '2031-01-01T00:01:00.000Z' }
    await expect(writes.begin(chat, await live(), next, later)).rejects.toThrow('cut off')
  })
})

describe('the end of an operation', () => {
  const applied = { phase: 'applied', action: 'apply', revision: 4, error: null } as const

  test('is written into its own status', async () => {
    await writes.begin(chat, await existing(), next, begun)
    await client.patch(Kinds.ConfigMap, planRef, 'merge', { data: { 'notes.txt': 'hello' } })
    const ended = await writes.end(chat, begun.startedAt, applied)
    expect(ended?.data).toMatchObject({
      'notes.txt': 'hello',
      'status.yaml': expect.stringMatching(/^phase: applied\naction: apply\nrevision: 4\n/),
    })
  })

  test('is not written into the status of another operation, of a mark or where there is none', async () => {
    await writes.begin(chat, await existing(), next, begun)
    expect(await writes.end(chat, '2031-01-01T00:00:01.000Z', applied)).toBeNull()
    await client.patch(Kinds.ConfigMap, planRef, 'merge', {
      data: { 'status.yaml': `phase: uninstalling\nstartedAt: ${begun.startedAt}\n` },
    })
    expect(await writes.end(chat, begun.startedAt, applied)).toBeNull()
    await client.delete(Kinds.ConfigMap, planRef)
    expect(await writes.end(chat, begun.startedAt, applied)).toBeNull()
  })

  test('fits a plan that is all but full, with what there is room for', async () => {
    await writes.begin(chat, await existing(), next, begun)
    const plan = await live()
    const size = Object.values(plan.data ?? {}).reduce((sum, text) => sum + text.length, 0)
    const rest = 'x'.repeat(1024 * 1024 - size - 100)
    await client.patch(Kinds.ConfigMap, planRef, 'merge', { data: { rest } })
    const error = 'e'.repeat(4000)
    const ended = await writes.end(chat, begun.startedAt, { ...applied, phase: 'failed', error })
    expect(ended?.data?.['status.yaml']).toMatch(/^phase: failed[\s\S]*error: see the run/)
  })
})

describe('archives', () => {
  const secretRef = (revision: number) => ({ namespace: 'team-a', name: `swiss.plan.v1.chat.v${revision}` })

  test('keep the texts of a revision byte for byte, with the labels of the contract', async () => {
    const data = { 'plan.yaml': '# é\nhash: x\n', 'helmfile.yaml': 'releases: []\n' }
    await writeArchive(client, chat, 3, data)
    expect(await readArchive(client, chat, 3)).toEqual(data)
    expect((await client.get(Kinds.Secret, secretRef(3))).metadata.labels).toEqual({
      owner: 'swiss',
      name: 'chat',
      version: '3',
      'app.kubernetes.io/managed-by': 'swiss',
    })
    expect(await readArchive(client, chat, 4)).toBeNull()
  })

  test('of a revision that is there already are written over, and a foreign Secret of that name is left alone', async () => {
    await writeArchive(client, chat, 3, { 'plan.yaml': 'hash: stale\n' })
    await writeArchive(client, chat, 3, next)
    expect(await readArchive(client, chat, 3)).toEqual(next)
    const foreign: KubeObject = await client.create(Kinds.Secret, {
      metadata: { ...secretRef(4), labels: { owner: 'helm', name: 'chat', version: '4' } },
    })
    await expect(writeArchive(client, chat, 4, next)).rejects.toThrow('is no archive')
    expect(await readArchive(client, chat, 4)).toBeNull()
    expect(await client.get(Kinds.Secret, secretRef(4))).toMatchObject({
      metadata: { resourceVersion: foreign.metadata.resourceVersion },
    })
  })

  test('are kept of the newest five revisions, by number', async () => {
    for (const revision of [2, 10, 9, 11, 3, 12, 1]) await writeArchive(client, chat, revision, next)
    await writeArchive(client, { ...chat, name: 'talk' }, 1, next)
    await pruneArchives(client, chat)
    expect((await listArchives(client, chat)).map(({ revision }) => revision)).toEqual([12, 11, 10, 9, 3])
    expect(await listArchives(client, { ...chat, name: 'talk' })).toHaveLength(1)
  })
})
