import { describe, expect, it } from 'vitest'
import type { Json } from '../../cases/json.ts'
import { matches, seenThrough } from '../../cases/match.ts'

describe('matches', () => {
  const table: [expected: Json, got: Json | undefined, holds: boolean][] = [
    [1, 1.0, true],
    [1, 2, false],
    [1, '1', false],
    ['a', 'a', true],
    ['a', 'A', false],
    [true, true, true],
    [false, null, false],
    // null is null or absent
    [null, null, true],
    [null, undefined, true],
    [null, 0, false],
    [null, '', false],
    [{ a: null }, {}, true],
    [{ a: null }, { a: [] }, false],
    // "*" is anything but null
    ['*', 0, true],
    ['*', '', true],
    ['*', [], true],
    ['*', null, false],
    ['*', undefined, false],
    // maps are subsets
    [{ a: 1 }, { a: 1, b: 2 }, true],
    [{ a: 1, b: 2 }, { a: 1 }, false],
    [{}, {}, true],
    [{}, [], false],
    [{}, null, false],
    [{ toString: '*' }, {}, false],
    // lists are whole
    [[], [], true],
    [[], [1], false],
    [[1, 2], [1, 2], true],
    [[2, 1], [1, 2], false],
    [[{ a: 1 }], [{ a: 1, b: 2 }], true],
    [['*'], [null], false],
    [[], {}, false],
    [[], 'x', false],
    // patterns
    ['/^ab/', 'abc', true],
    ['/^b/', 'abc', false],
    ['/^4/', 42, true],
    ['/true/', true, true],
    ['/./', null, false],
    ['/^\\[\\{"a":1\\},2\\]$/', [{ a: 1 }, 2], true],
    ['/"b":\\{"c":/', { a: 1, b: { c: null } }, true],
    ['/^(?![^]*x)[^]+$/', 'a\nb', true],
    ['/a.b/', 'a\nb', false],
    ['//', '//', true],
    ['/', '/', true],
  ]
  it.each(table)('%j against %j: %s', (expected, got, holds) => {
    expect(matches(expected, got)).toBe(holds)
  })
})

describe('seenThrough', () => {
  it('cuts to what was asked for and shows as expected what holds', () => {
    const expected = { a: '*', b: { c: 1, d: '/x/' }, e: null }
    const got = { a: 5, b: { c: 2, d: 'axb', more: true }, e: { f: 1 }, more: 1 }
    expect(seenThrough(expected, got)).toEqual({ a: '*', b: { c: 2, d: '/x/' }, e: { f: 1 } })
  })

  it('keeps elements that hold beside their partners', () => {
    const expected = [{ name: 'b' }, { name: 'd', phase: 'X' }]
    const got = [{ name: 'a', more: 1 }, { name: 'b' }, { name: 'd', phase: 'Y', more: 1 }]
    expect(seenThrough(expected, got)).toEqual([{ name: 'a' }, { name: 'b' }, { name: 'd', phase: 'Y' }])
  })

  it('shows what identifies an element where nothing was expected at all', () => {
    expect(seenThrough([], [{ name: 'a', phase: 'X', pods: [1, 2, 3] }])).toEqual([{ name: 'a', phase: 'X' }])
  })

  it('cuts long texts', () => {
    const seen = seenThrough('/b/', 'a'.repeat(10_000)) as string
    expect(seen.length).toBeLessThan(5_000)
    expect(seen).toMatch(/… \(6000 more characters\)$/)
  })
})
