import { describe, expect, it } from 'vitest'
import { readConfig } from '../../../server/config.ts'

const FLAG = '--audit-url'

describe('the URL of the audit log', () => {
  it.each([
    'postgres://swiss:s3cret@db.example.com:5432/swiss',
    'postgresql://swiss@127.0.0.1/swiss?sslmode=verify-full',
    'postgres:///swiss?host=/var/run/postgresql',
    'postgres://swiss:%2F%40@db/swiss',
  ])('may be %s', (url) => {
    expect(readConfig(['serve', FLAG, url], {})).toMatchObject({ config: { auditUrl: url } })
    expect(readConfig(['serve'], { SWISS_AUDIT_URL: url })).toMatchObject({ config: { auditUrl: url } })
  })

  it.each([
    's3cret',
    'mysql://swiss:s3cret@db/swiss',
    'https://swiss:s3cret@db/swiss',
    'postgres://swiss:s3cret/x@db/swiss',
    'postgres://swiss:s3cret@db:port/swiss',
    'postgres://swiss:s3cret%zz@db/swiss',
    'postgres://swiss:s3cret x@db/swiss',
  ])('may not be %s, and what was given is not repeated', (url) => {
    for (const result of [
      readConfig(['serve', FLAG, url], {}),
      readConfig(['serve'], { SWISS_AUDIT_URL: url }),
    ]) {
      const wrong = 'wrong' in result ? result.wrong : ''
      expect(wrong).toMatch(
        /^(--audit-url|SWISS_AUDIT_URL) must be the URL of a PostgreSQL database, such as/,
      )
      expect(wrong).not.toContain('s3cret')
    }
  })

  it('belongs to serve', () => {
    expect(readConfig(['sandbox', FLAG, 'postgres://db/swiss'], {})).toHaveProperty('wrong')
  })
})
