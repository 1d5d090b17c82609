import { describe, expect, it } from 'vitest'
import { explain, unifiedDiff } from '../../cases/diff.ts'

const lines = (text: string) => text.split('')

describe('unifiedDiff', () => {
  it('is empty for the same lines', () => {
    expect(unifiedDiff(lines('abc'), lines('abc'))).toEqual([])
  })

  it('has three lines of context and joins what is near', () => {
    expect(unifiedDiff(lines('abcdefghij'), lines('abcdXfgYij'))).toEqual([
      '@@ -2,9 +2,9 @@',
      ' b',
      ' c',
      ' d',
      '-e',
      '+X',
      ' f',
      ' g',
      '-h',
      '+Y',
      ' i',
      ' j',
    ])
  })

  it('has a hunk of its own for what is far', () => {
    expect(unifiedDiff(lines('abcdefghijk'), lines('Xbcdefghij'))).toEqual([
      '@@ -1,4 +1,4 @@',
      '-a',
      '+X',
      ' b',
      ' c',
      ' d',
      '@@ -8,4 +8,3 @@',
      ' h',
      ' i',
      ' j',
      '-k',
    ])
  })

  it('shows nothing but what was added to nothing', () => {
    expect(unifiedDiff([], ['a'])).toEqual(['@@ -1,0 +1,1 @@', '+a'])
  })
})

describe('explain', () => {
  it('tells a number from a text', () => {
    expect(explain('answer', { a: 1 }, { a: '1' })).toBe(
      '--- expected answer\n+++ got answer\n@@ -1,1 +1,1 @@\n-a: 1\n+a: "1"',
    )
  })

  it('shows what is absent as null', () => {
    expect(explain('answer', { a: '*' }, undefined)).toBe(
      '--- expected answer\n+++ got answer\n@@ -1,1 +1,1 @@\n-a: "*"\n+null',
    )
  })
})
