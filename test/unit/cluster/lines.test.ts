import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LineSplitter } from '../../../services/cluster/lines.ts'

test('however the bytes are cut, the lines come out whole', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc
          .string({ unit: 'grapheme', minLength: 1 })
          .filter((line) => line.trim() === line && line !== '' && !line.includes('\n')),
        {
          maxLength: 8,
        },
      ),
      fc.array(fc.nat(200)),
      (wanted, cuts) => {
        const bytes = Buffer.from(wanted.map((line) => `${line}\n`).join(''))
        const places = [...new Set([0, ...cuts.filter((cut) => cut < bytes.length), bytes.length])].sort(
          (a, b) => a - b,
        )
        const splitter = new LineSplitter()
        const got = places.slice(1).flatMap((end, index) => splitter.push(bytes.subarray(places[index], end)))
        expect(got).toEqual(wanted)
        expect(splitter.rest()).toBe('')
      },
    ),
  )
})

test('empty lines and carriage returns are left out, and a last line without an end is the rest', () => {
  const splitter = new LineSplitter()
  expect(splitter.push(Buffer.from('a\r\n\n  \nb'))).toEqual(['a'])
  expect(splitter.rest()).toBe('b')
  expect(splitter.rest()).toBe('')
})

test('a line that never ends is not kept for ever', () => {
  const splitter = new LineSplitter(10)
  splitter.push(Buffer.from('12345678'))
  expect(() => splitter.push(Buffer.from('9012'))).toThrow(RangeError)
})
