import { expect, test } from 'vitest'
import { deploymentId, parseNodeId, runId } from '../../../schema/nodeId.ts'

const encode = (text: string) => Buffer.from(text).toString('base64url')

test('an id is read back as what it was made of', () => {
  const ref = { namespace: 'team-a', name: 'chat.v2' }
  expect(parseNodeId(deploymentId(ref))).toEqual({ type: 'Deployment', ref })
  expect(parseNodeId(runId({ id: 'a:b/c' }))).toEqual({ type: 'Run', id: 'a:b/c' })
})

test('ids of the same name in two namespaces differ', () => {
  expect(deploymentId({ namespace: 'a', name: 'x' })).not.toBe(deploymentId({ namespace: 'b', name: 'x' }))
})

test.each([
  ['empty', ''],
  ['not base64url', '%%%'],
  ['with something appended', `${encode('Deployment:team-a/chat')}=`],
  ['of another type', encode('Pod:team-a/chat')],
  ['without a name', encode('Deployment:team-a/')],
  ['without a namespace', encode('Deployment:/chat')],
  ['with two slashes', encode('Deployment:team-a/b/c')],
  ['a run without an id', encode('Run:')],
  ['no text', Buffer.from([0xff, 0xfe]).toString('base64url')],
  ['far too long', encode(`Run:${'x'.repeat(100_000)}`)],
])('an id that is %s stands for nothing', (_what, id) => {
  expect(parseNodeId(id)).toBeNull()
})
