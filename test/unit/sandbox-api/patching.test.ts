import { describe, expect, test } from 'vitest'
import { jsonPatch, mergePatch } from '../../../sandbox/api/patching.ts'

describe('merge patch: the examples of RFC 7386, appendix A', () => {
  const cases: [unknown, unknown, unknown][] = [
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [
      ['a', 'b'],
      ['c', 'd'],
      ['c', 'd'],
    ],
    [{ a: 'b' }, ['c'], ['c']],
    [{ a: 'foo' }, null, null],
    [{ a: 'foo' }, 'bar', 'bar'],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: 'b', c: null }, { a: 'b' }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ]
  test.each(cases)('%j with %j is %j', (target, patch, result) => {
    const before = structuredClone(target)
    expect(mergePatch(target, patch)).toEqual(result)
    expect(target).toEqual(before)
  })
  test('__proto__ is a key like any other', () => {
    const merged = mergePatch({}, JSON.parse('{"__proto__": {"polluted": true}}')) as object
    expect(Object.hasOwn(merged, '__proto__')).toBe(true)
    expect('polluted' in {}).toBe(false)
  })
})

describe('JSON patch: the examples of RFC 6902, appendix A', () => {
  const cases: [string, unknown, unknown, unknown][] = [
    ['add a member', { foo: 'bar' }, [{ op: 'add', path: '/baz', value: 'qux' }], { baz: 'qux', foo: 'bar' }],
    [
      'add an element',
      { foo: ['bar', 'baz'] },
      [{ op: 'add', path: '/foo/1', value: 'qux' }],
      { foo: ['bar', 'qux', 'baz'] },
    ],
    ['append', { foo: ['bar'] }, [{ op: 'add', path: '/foo/-', value: ['abc'] }], { foo: ['bar', ['abc']] }],
    ['remove a member', { baz: 'qux', foo: 'bar' }, [{ op: 'remove', path: '/baz' }], { foo: 'bar' }],
    [
      'remove an element',
      { foo: ['bar', 'qux', 'baz'] },
      [{ op: 'remove', path: '/foo/1' }],
      { foo: ['bar', 'baz'] },
    ],
    [
      'replace',
      { baz: 'qux', foo: 'bar' },
      [{ op: 'replace', path: '/baz', value: 'boo' }],
      { baz: 'boo', foo: 'bar' },
    ],
    [
      'move a member',
      { foo: { bar: 'baz', waldo: 'fred' }, qux: { corge: 'grault' } },
      [{ op: 'move', from: '/foo/waldo', path: '/qux/thud' }],
      { foo: { bar: 'baz' }, qux: { corge: 'grault', thud: 'fred' } },
    ],
    [
      'move an element',
      { foo: ['all', 'grass', 'cows', 'eat'] },
      [{ op: 'move', from: '/foo/1', path: '/foo/3' }],
      { foo: ['all', 'cows', 'eat', 'grass'] },
    ],
    ['copy', { a: { b: 1 } }, [{ op: 'copy', from: '/a', path: '/c' }], { a: { b: 1 }, c: { b: 1 } }],
    [
      'test',
      { baz: 'qux', foo: ['a', 2] },
      [{ op: 'test', path: '/foo/1', value: 2 }],
      { baz: 'qux', foo: ['a', 2] },
    ],
    [
      'add a nested object',
      { foo: 'bar' },
      [{ op: 'add', path: '/child', value: { grand: {} } }],
      { foo: 'bar', child: { grand: {} } },
    ],
    [
      'unknown members of an operation',
      { foo: 'bar' },
      [{ op: 'add', path: '/baz', value: 'qux', xyz: 1 }],
      { foo: 'bar', baz: 'qux' },
    ],
    [
      'escapes',
      { '/': 9, '~1': 10 },
      [
        { op: 'test', path: '/~01', value: 10 },
        { op: 'remove', path: '/~1' },
      ],
      { '~1': 10 },
    ],
    ['replace the whole', { foo: 'bar' }, [{ op: 'replace', path: '', value: { a: 1 } }], { a: 1 }],
    ['null is a value', { foo: 1 }, [{ op: 'replace', path: '/foo', value: null }], { foo: null }],
  ]
  test.each(cases)('%s', (_name, target, patch, result) => {
    const before = structuredClone(target)
    expect(jsonPatch(target, patch)).toEqual({ value: result })
    expect(target).toEqual(before)
  })

  const failing: [string, unknown][] = [
    ['a test that fails', [{ op: 'test', path: '/foo', value: 'other' }]],
    ['a number is not its text', [{ op: 'test', path: '/list/0', value: '1' }]],
    ['a missing parent', [{ op: 'add', path: '/none/baz', value: 1 }]],
    ['replace of nothing', [{ op: 'replace', path: '/none', value: 1 }]],
    ['remove of nothing', [{ op: 'remove', path: '/none' }]],
    ['an index beyond the list', [{ op: 'add', path: '/list/5', value: 1 }]],
    ['an index that is none', [{ op: 'add', path: '/list/01', value: 1 }]],
    ['a copy from nowhere', [{ op: 'copy', from: '/none', path: '/a' }]],
    ['an unknown operation', [{ op: 'frob', path: '/foo' }]],
  ]
  test.each(failing)('%s does not fit', (_name, patch) => {
    expect(jsonPatch({ foo: 'bar', list: [1] }, patch)).toMatchObject({ failure: 'failed' })
  })

  const malformed: [string, unknown][] = [
    ['no list', { op: 'remove', path: '/foo' }],
    ['no operation', ['x']],
    ['a path that is no pointer', [{ op: 'remove', path: 'foo' }]],
    ['add without a value', [{ op: 'add', path: '/a' }]],
    ['move without from', [{ op: 'move', path: '/a' }]],
  ]
  test.each(malformed)('%s is malformed', (_name, patch) => {
    expect(jsonPatch({ foo: 'bar' }, patch)).toMatchObject({ failure: 'malformed' })
  })
})
