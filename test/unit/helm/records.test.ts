import { describe, expect, test } from 'vitest'
import type { KubeObject } from '../../../services/cluster/kinds.ts'
import { helmState, newest, recordName, trimHelmRecord } from '../../../services/helm/records.ts'

const secret = (
  revision: number,
  status: string,
  labels: Record<string, string | undefined> = {},
): KubeObject => ({
  metadata: {
    name: recordName('chat', revision),
    namespace: 'team-a',
    uid: `uid-${revision}`,
    resourceVersion: '1',
    labels: { owner: 'helm', name: 'chat', version: String(revision), status, ...labels } as Record<
      string,
      string
    >,
  },
})
const records = (...all: KubeObject[]) => all.flatMap((one) => trimHelmRecord(one) ?? [])

describe('a record', () => {
  test('is read from its labels', () => {
    expect(
      trimHelmRecord(secret(3, 'deployed', { createdAt: '1796063700', modifiedAt: '1796063784' })),
    ).toEqual({
      namespace: 'team-a',
      release: 'chat',
      revision: 3,
      status: 'deployed',
      uid: 'uid-3',
      modifiedAt: '2026-11-30T18:36:24.000Z',
    })
    expect(trimHelmRecord(secret(1, 'pending-install', { createdAt: '1796063784' }))?.modifiedAt).toBe(
      '2026-11-30T18:36:24.000Z',
    )
    expect(trimHelmRecord(secret(1, 'deployed'))?.modifiedAt).toBeNull()
  })

  test.each([
    ['another owner', secret(1, 'deployed', { owner: 'swiss' })],
    ['no name', secret(1, 'deployed', { name: '' })],
    ['no revision', secret(1, 'deployed', { version: 'one' })],
    ['a revision of 0', secret(0, 'deployed')],
    ['a name of its own', { metadata: { ...secret(1, 'deployed').metadata, name: 'token' } }],
    ['labels of another release', secret(1, 'deployed', { name: 'talk' })],
  ])('is none with %s', (_what, raw) => {
    expect(trimHelmRecord(raw)).toBeNull()
  })
})

test('the newest is the highest revision, as a number', () => {
  expect(
    newest(records(secret(9, 'superseded'), secret(10, 'deployed'), secret(2, 'superseded')))?.revision,
  ).toBe(10)
  expect(newest([])).toBeNull()
})

test('a release exists unless its newest record says uninstalled', () => {
  expect(helmState([])).toEqual({ exists: false, newest: null, records: [] })
  expect(helmState(records(secret(1, 'superseded'), secret(2, 'uninstalled')))).toMatchObject({
    exists: false,
    newest: { revision: 2 },
  })
  expect(helmState(records(secret(1, 'uninstalled'), secret(2, 'failed'))).exists).toBe(true)
  for (const status of [
    'deployed',
    'failed',
    'pending-install',
    'uninstalling',
    'superseded',
    'unheard-of',
  ]) {
    expect(helmState(records(secret(1, status))).exists).toBe(true)
  }
})
