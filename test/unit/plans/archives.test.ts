import { expect, test } from 'vitest'
import { KubeError } from '../../../services/cluster/errors.ts'
import type { KubeObject } from '../../../services/cluster/kinds.ts'
import {
  type ArchiveClient,
  archiveData,
  deleteArchives,
  listArchives,
} from '../../../services/plans/archives.ts'
import { archiveName, boundedLabel } from '../../../services/plans/names.ts'

const chat = { namespace: 'team-a', name: 'chat' }

const secret = (name: string, labels: Record<string, string>, namespace = 'team-a'): KubeObject => ({
  metadata: { name, namespace, uid: `uid-of-${name}`, resourceVersion: '1', labels },
})
const archive = (release: string, revision: number) =>
  secret(archiveName(release, revision), {
    owner: 'swiss',
    name: boundedLabel(release),
    version: String(revision),
  })

/** A client that answers any list with these, whatever was asked for, and fails deletes as told. */
function clientOf(items: KubeObject[], failures: Record<string, KubeError> = {}) {
  const calls: unknown[] = []
  const client = {
    list: async (_kind: unknown, options: unknown) => {
      calls.push({ list: options })
      return { items, resourceVersion: '1' }
    },
    delete: async (_kind: unknown, ref: { name: string }, options: unknown) => {
      calls.push({ delete: ref.name, options })
      const failure = failures[ref.name]
      if (failure) throw failure
      return { accepted: null }
    },
  } as unknown as ArchiveClient
  return { client, calls, deleted: () => calls.flatMap((call) => (call as { delete?: string }).delete ?? []) }
}

test('only the archives of this very release are deleted, each as the object that was listed', async () => {
  const { client, calls } = clientOf([
    archive('chat', 1),
    archive('chat', 2),
    archive('chat.v1', 2), // another release whose archives begin alike
    secret('swiss.plan.v1.chat.v3', { owner: 'helm', name: 'chat', version: '3' }),
    secret('swiss.plan.v1.chat.v4', { owner: 'swiss', name: 'talk', version: '4' }),
    secret('sh.helm.release.v1.chat.v1', { owner: 'swiss', name: 'chat', version: '1' }),
    secret('swiss.plan.v1.chat.v5', { owner: 'swiss', name: 'chat', version: '6' }),
    secret('swiss.plan.v1.chat.v7', { owner: 'swiss', name: 'chat', version: '7' }, 'team-b'),
    secret('token', { owner: 'swiss', name: 'chat' }),
  ])
  await deleteArchives(client, chat)
  expect(calls).toEqual([
    { list: { namespace: 'team-a', labelSelector: 'owner=swiss,name=chat', metadataOnly: true } },
    { delete: 'swiss.plan.v1.chat.v2', options: { preconditions: { uid: 'uid-of-swiss.plan.v1.chat.v2' } } },
    { delete: 'swiss.plan.v1.chat.v1', options: { preconditions: { uid: 'uid-of-swiss.plan.v1.chat.v1' } } },
  ])
})

test('one that is gone is fine; one that cannot be deleted does not keep the others', async () => {
  const items = [archive('chat', 1), archive('chat', 2), archive('chat', 3)]
  const gone = clientOf(items, { [archiveName('chat', 3)]: new KubeError('NotFound', 'gone') })
  await deleteArchives(gone.client, chat)
  expect(gone.deleted()).toHaveLength(3)

  const refused = clientOf(items, { [archiveName('chat', 3)]: new KubeError('Forbidden', 'no') })
  await expect(deleteArchives(refused.client, chat)).rejects.toMatchObject({ reason: 'Forbidden' })
  expect(refused.deleted()).toHaveLength(3)
})

test('a list that fails is an error, not "no archives"', async () => {
  const client = {
    list: async () => {
      throw new KubeError('Forbidden', 'no')
    },
  } as unknown as ArchiveClient
  await expect(listArchives(client, chat)).rejects.toMatchObject({ reason: 'Forbidden' })
})

test('a release with a long name is asked for with a label that fits', async () => {
  const long = 'm'.repeat(250)
  const { client, calls } = clientOf([archive(long, 1)])
  expect(await listArchives(client, { namespace: 'team-a', name: long })).toEqual([
    { name: archiveName(long, 1), uid: expect.any(String), revision: 1 },
  ])
  expect(calls[0]).toMatchObject({ list: { labelSelector: `owner=swiss,name=${boundedLabel(long)}` } })
})

test('an archive holds the plan as it was', () => {
  const encoded = Buffer.from('phase: applied\n').toString('base64')
  expect(archiveData({ ...archive('chat', 1), data: { 'status.yaml': encoded } })).toEqual({
    'status.yaml': 'phase: applied\n',
  })
  expect(archiveData(archive('chat', 1))).toEqual({})
})
