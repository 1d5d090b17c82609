// etcd itself, by the JSON over HTTP that it speaks beside gRPC.

/** Forgets everything but what is there now: a version from before is answered with 410 from then on. */
export async function compact(etcdUrl: string): Promise<void> {
  const { header } = await post<{ header: { revision: string } }>(etcdUrl, 'range', {
    key: Buffer.from('/').toString('base64'),
    limit: 1,
  })
  await post(etcdUrl, 'compaction', { revision: header.revision, physical: true })
}

async function post<T>(etcdUrl: string, what: string, body: object): Promise<T> {
  const response = await fetch(`${etcdUrl}/v3/kv/${what}`, { method: 'POST', body: JSON.stringify(body) })
  const text = await response.text()
  if (!response.ok) throw new Error(`etcd ${what}: ${response.status} ${text}`)
  return JSON.parse(text) as T
}
