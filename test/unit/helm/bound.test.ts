import fc from 'fast-check'
import { expect, test } from 'vitest'
import { boundText } from '../../../services/helm/bound.ts'

test('a short text stays; a long one keeps its beginning and more of its end', () => {
  expect(boundText('Error: no', 64)).toBe('Error: no')
  const text = boundText(`begin${'-'.repeat(10_000)}end`, 200)
  expect(text).toMatch(/^begin-+\n… \d+ bytes left out …\n-+end$/)
})

test('the result fits its limit and breaks no character', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme', minLength: 100, maxLength: 400 }),
      fc.integer({ min: 64, max: 300 }),
      (text, limit) => {
        const bounded = boundText(text, limit)
        expect(Buffer.byteLength(bounded)).toBeLessThanOrEqual(limit)
        expect(bounded).not.toContain('\ufffd')
      },
    ),
  )
})
