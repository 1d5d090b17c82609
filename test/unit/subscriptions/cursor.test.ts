import { describe, expect, it } from 'vitest'
import { decodeCursor, encodeCursor, INCOMPLETE } from '../../../subscriptions/cursor.ts'

describe('cursor', () => {
  it.each([0, 1, 10_000, 2 ** 40, INCOMPLETE])('comes back as it was: %d', (position) => {
    expect(decodeCursor(encodeCursor({ epoch: 'e1', position }))).toEqual({ epoch: 'e1', position })
  })

  it('is opaque, and safe in a URL and in a header', () => {
    expect(encodeCursor({ epoch: 'abc', position: 7 })).toMatch(/^[A-Za-z0-9_-]+$/)
  })

  it.each([
    ['nothing', ''],
    ['another word', 'latest'],
    ['no base64url', '***'],
    ['a cursor with something behind it', `${encodeCursor({ epoch: 'e1', position: 3 })}=`],
    ['no position', Buffer.from('e1').toString('base64url')],
    ['a negative position', Buffer.from('e1.-2').toString('base64url')],
    ['a fraction', Buffer.from('e1.1.5').toString('base64url')],
    ['a number too long to be exact', Buffer.from('e1.99999999999999999').toString('base64url')],
    ['400 letters', 'a'.repeat(400)],
    ['a line break', 'ZTEuMQ\n'],
  ])('is not %s', (_what, text) => {
    expect(decodeCursor(text)).toBeNull()
  })
})
