import { X509Certificate } from 'node:crypto'
import { request } from 'node:https'
import { expect, test } from 'vitest'
import { selfSigned } from '../../../sandbox/api/certificate.ts'
import { startApiServer } from '../../../sandbox/api/server.ts'
import { FakeClock } from '../support/fakeClock.ts'

test.each(['2026-06-15T12:00:00Z', '2049-06-15T12:00:00Z', '2055-01-01T00:00:00Z'])(
  'a certificate made at %s is its own authority, for loopback, for a year',
  (time) => {
    const now = Date.parse(time)
    const { cert, key } = selfSigned(now)
    const read = new X509Certificate(cert)
    expect(read.verify(read.publicKey)).toBe(true)
    expect(read.checkIssued(read)).toBe(true)
    expect(read.ca).toBe(true)
    expect(read.checkIP('127.0.0.1')).toBe('127.0.0.1')
    expect(read.checkHost('localhost')).toBe('localhost')
    expect(read.checkIP('127.0.0.2')).toBeUndefined()
    expect(Date.parse(read.validFrom)).toBe(now - 3_600_000)
    expect(Date.parse(read.validTo)).toBe(now + 365 * 86_400_000)
    expect(key).toContain('PRIVATE KEY')
    expect(selfSigned(now).cert).not.toBe(cert)
  },
)

test('a server with tls speaks https, and is trusted by those who have its certificate alone', async () => {
  const clock = new FakeClock()
  const server = await startApiServer({ clock, tls: true, tokens: { t: { user: 'u', groups: [] } } })
  try {
    expect(server.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/)
    const get = (ca: string | undefined) =>
      new Promise<number>((resolve, reject) => {
        const headers = { authorization: 'Bearer t' }
        const call = request(`${server.url}/api/v1/pods`, { headers, agent: false, ...(ca ? { ca } : {}) })
        call.on('response', (answer) => {
          answer.resume()
          resolve(answer.statusCode ?? 0)
        })
        call.on('error', reject)
        call.end()
      })
    expect(await get(server.certificate)).toBe(200)
    await expect(get(undefined)).rejects.toThrow(/self-signed/)
  } finally {
    await server.stop()
  }
})
