import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { KubeObject } from '../../../sandbox/api/types.ts'
import { manifestHeads, readHead } from '../../../sandbox/helm/manifest.ts'
import { decodeRelease, encodeRelease } from '../../../sandbox/helm/payload.ts'
import { releaseSecret } from '../../../sandbox/helm/storage.ts'

const recording = (version: string): KubeObject[] => {
  const path = new URL(`../../fixtures/recordings/helm-${version}/helm-secrets.json`, import.meta.url)
  return JSON.parse(readFileSync(path, 'utf8')).items
}

const payloadOf = (secret: KubeObject) => String((secret.data as { release: string }).release)
const bytesOf = (payload: string) => Buffer.from(Buffer.from(payload, 'base64').toString('latin1'), 'base64')

describe.each(['4.3.1', '3.22.0'])('records of helm %s', (version) => {
  const secrets = recording(version)

  test('are read', () => {
    const releases = secrets.map((secret) => decodeRelease(payloadOf(secret)))
    expect(
      releases.map(({ name, namespace, version: revision, info }) => [
        name,
        namespace,
        revision,
        info.status,
      ]),
    ).toEqual([
      ['chat', 'team-a', 1, 'superseded'],
      ['chat', 'team-a', 2, 'deployed'],
    ])
    expect(releases[1]?.chart?.metadata).toMatchObject({ name: 'vllm', version: '0.1.0' })
    expect(releases[1]?.config).toMatchObject({ replicaCount: 3 })
  })

  test('come out of the encoder with the same JSON, byte for byte, and the same gzip header', () => {
    for (const secret of secrets) {
      const payload = payloadOf(secret)
      const again = encodeRelease(decodeRelease(payload))
      expect(gunzipSync(bytesOf(again)).toString()).toBe(gunzipSync(bytesOf(payload)).toString())
      expect(bytesOf(again).subarray(0, 4)).toEqual(bytesOf(payload).subarray(0, 4))
      expect(bytesOf(again)[9]).toBe(bytesOf(payload)[9])
    }
  })

  test('make the Secret helm makes', () => {
    for (const { apiVersion, kind, metadata, type, data } of secrets) {
      const release = decodeRelease(payloadOf({ apiVersion, kind, metadata, data }))
      const { modifiedAt = '' } = metadata.labels ?? {}
      const made = releaseSecret(release, { modifiedAt }, payloadOf({ apiVersion, kind, metadata, data }))
      const { name, namespace, labels } = metadata
      expect(made).toEqual({ apiVersion, kind, metadata: { name, namespace, labels }, type, data })
    }
  })

  test('say which objects an uninstall deletes, in its order', () => {
    const groups = manifestHeads(decodeRelease(payloadOf(secrets[1] as KubeObject)).manifest)
    expect(groups.flat().map(({ apiVersion, kind, name }) => `${apiVersion} ${kind} ${name}`)).toEqual([
      'v1 Service chat-vllm',
      'apps/v1 Deployment chat-vllm',
    ])
  })
})

test('a record from before compression reads as well, and one that is none does not', () => {
  const release = decodeRelease(payloadOf(recording('4.3.1')[0] as KubeObject))
  const plain = Buffer.from(Buffer.from(JSON.stringify(release)).toString('base64')).toString('base64')
  expect(decodeRelease(plain)).toEqual(release)
  expect(() => decodeRelease(Buffer.from('nonsense').toString('base64'))).toThrow()
})

describe('manifests', () => {
  test('of JSON documents and of YAML ones, with comments and specs of any kind', () => {
    const manifest = `---
# Source: x/templates/a.yaml
{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","annotations":{"helm.sh/resource-policy":"keep"}}}
---
# Source: x/templates/b.yaml
apiVersion: example.org/v1
kind: "Widget"
metadata:
  name: b   # a comment
  namespace: 'other'
  labels: {a: b}
spec: &anchor
  text: >-
    ---not a separator
    kind: Decoy
---
# only a comment
`
    expect(manifestHeads(manifest).flat()).toEqual([
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        name: 'a',
        namespace: '',
        annotations: { 'helm.sh/resource-policy': 'keep' },
      },
      { apiVersion: 'example.org/v1', kind: 'Widget', name: 'b', namespace: 'other', annotations: {} },
    ])
  })

  test('a document without a name is refused', () => {
    expect(() => readHead('apiVersion: v1\nkind: Pod\nmetadata: {}\n')).toThrow(
      'no apiVersion, kind and name',
    )
  })
})
