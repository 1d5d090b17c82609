import { describe, expect, test } from 'vitest'
import {
  classify,
  classifyStatusObject,
  isKubeError,
  KubeError,
  redact,
} from '../../../services/cluster/errors.ts'

const status = (code: number, reason: string, extra: object = {}) =>
  JSON.stringify({
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    code,
    reason,
    message: 'some text',
    ...extra,
  })

describe('classify', () => {
  test.each([
    [404, status(404, 'NotFound'), 'NotFound', false],
    [404, '404 page not found\n', 'NotServed', false],
    [404, '', 'NotServed', false],
    [404, '{"error":"no such route"}', 'NotServed', false],
    [409, status(409, 'AlreadyExists'), 'AlreadyExists', false],
    [409, status(409, 'Conflict'), 'Conflict', true],
    [409, '', 'Conflict', true],
    [403, status(403, 'Forbidden'), 'Forbidden', false],
    [403, 'forbidden', 'Forbidden', false],
    [401, status(401, 'Unauthorized'), 'Unauthorized', true],
    [410, status(410, 'Expired'), 'Gone', true],
    [410, status(410, 'Gone'), 'Gone', true],
    [410, '', 'Gone', true],
    [413, '', 'TooLarge', false],
    [422, status(422, 'Invalid'), 'Invalid', false],
    [422, 'nonsense', 'Invalid', false],
    [400, status(400, 'BadRequest'), 'Invalid', false],
    [415, status(415, 'UnsupportedMediaType'), 'Invalid', false],
    [429, status(429, 'TooManyRequests'), 'Throttled', true],
    [429, '', 'Throttled', true],
    [500, status(500, 'InternalError'), 'Unavailable', true],
    [500, '', 'Unavailable', true],
    [502, '<html>bad gateway</html>', 'Unavailable', true],
    [503, status(503, 'ServiceUnavailable'), 'Unavailable', true],
    [504, status(504, 'Timeout'), 'Unavailable', true],
    [302, '', 'Unavailable', true],
    // A reason nobody knows: the number decides.
    [409, status(409, 'SomethingNew'), 'Conflict', true],
  ] as const)('B051 %i %s is %s', (code, body, reason, retryable) => {
    const error = classify(code, {}, body)
    expect(error).toMatchObject({ reason, status: code, retryable })
    expect(error).toBeInstanceOf(Error)
  })

  test('B051 unknown errors are never taken for "not there", whatever their body says', () => {
    for (const code of [400, 401, 403, 405, 409, 410, 418, 422, 429, 500, 501, 503, 599]) {
      for (const body of [
        '',
        'not found',
        'NotFound',
        '404',
        '{"message":"not found"}',
        '{"kind":"Status"}',
        '{',
      ]) {
        expect(classify(code, {}, body).reason, `${code} ${body}`).not.toMatch(/NotFound|NotServed/)
      }
    }
  })

  test('a namespace that is being deleted is told from a missing right', () => {
    const body = status(403, 'Forbidden', { details: { causes: [{ reason: 'NamespaceTerminating' }] } })
    expect(classify(403, {}, body)).toMatchObject({ reason: 'NamespaceTerminating', retryable: false })
  })

  test.each([
    [{ 'retry-after': '7' }, '', 7],
    [{ 'retry-after': ['3', '4'] }, '', 3],
    [{ 'retry-after': 'Wed, 01 Jan 2031 00:00:09 GMT', date: 'Wed, 01 Jan 2031 00:00:00 GMT' }, '', 9],
    [{ 'retry-after': 'soon' }, '', null],
    [{}, status(429, 'TooManyRequests', { details: { retryAfterSeconds: 5 } }), 5],
    [{}, '', null],
  ])('reads Retry-After %o', (headers, body, seconds) => {
    expect(classify(429, headers, body).retryAfterSeconds).toBe(seconds)
  })

  test('an ERROR event carries its own status', () => {
    expect(classifyStatusObject({ kind: 'Status', code: 410, reason: 'Expired' }).reason).toBe('Gone')
    expect(classifyStatusObject({ kind: 'Status', reason: 'Expired' }).reason).toBe('Gone')
    expect(classifyStatusObject({ kind: 'Status', code: 500 }).reason).toBe('Unavailable')
    expect(classifyStatusObject(null).reason).toBe('Unavailable')
  })
})

describe('messages', () => {
  test('carry no credentials and are bounded', () => {
    const token = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl'
    const text = `Authorization: Bearer abcdef0123456789 and ${token} ${'x'.repeat(9_000)}`
    const error = new KubeError('Unavailable', text)
    expect(error.message).not.toContain('abcdef0123456789')
    expect(error.message).not.toContain('eyJ')
    expect(error.message.length).toBeLessThanOrEqual(600)
    expect(redact('basic auth is off')).toBe('basic [redacted] is off')
  })

  test('say what was tried, and keep the rest', () => {
    const error = classify(429, { 'retry-after': '7' }, '').during('list Pod team-a')
    expect(error).toMatchObject({ reason: 'Throttled', status: 429, retryAfterSeconds: 7 })
    expect(error.message).toBe('list Pod team-a: HTTP 429')
    expect(isKubeError(error)).toBe(true)
    expect(isKubeError(error, 'Conflict')).toBe(false)
    expect(isKubeError(new Error('x'))).toBe(false)
  })
})
