import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseJson, printJson } from '../../../services/runtime/json.ts'

describe('integers beyond 2^53 keep their digits', () => {
  test.each<[string, unknown]>([
    ['9007199254740993', 9007199254740993n],
    ['{"a":-9007199254740993}', { a: -9007199254740993n }],
    ['[9007199254740991, 9007199254740992]', [9007199254740991, 9007199254740992n]],
    ['{"9007199254740993":"9007199254740993"}', { '9007199254740993': '9007199254740993' }],
    ['["b1","s","9007199254740993",9007199254740993]', ['b1', 's', '9007199254740993', 9007199254740993n]],
    ['["\\"9007199254740993\\\\",9007199254740993]', ['"9007199254740993\\', 9007199254740993n]],
    ['{"a":1234567890123456.5,"b":1e300}', { a: 1234567890123456.5, b: 1e300 }],
    ['{"__proto__":9007199254740993}', JSON.parse('{"__proto__":0}')],
  ])('%s', (text, value) => {
    const parsed = parseJson(text)
    if (!text.includes('__proto__')) expect(parsed).toEqual(value)
    else expect(Object.keys(parsed as object)).toEqual(['__proto__'])
    expect(parseJson(printJson(parsed))).toEqual(parsed)
  })
})

test.each(['{"a":9007199254740993', '9007199254740993x', '"a"9007199254740993', '00000000000000000012', ''])(
  'what is no JSON is refused: %s',
  (text) => {
    expect(() => parseJson(text)).toThrow(SyntaxError)
  },
)

test('anything without such integers is what JSON makes of it, and with them nothing is lost', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      fc.pre(!/\d{16}/.test(text))
      expect(parseJson(text)).toEqual(JSON.parse(text))
      expect(printJson(JSON.parse(text))).toBe(JSON.stringify(JSON.parse(text)))
    }),
  )
  const tree = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.bigInt(),
      fc.string(),
      fc.array(tie('value')),
      fc.dictionary(fc.string(), tie('value')),
    ),
  })).value
  const narrow = (value: unknown): unknown => {
    if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value
    if (Array.isArray(value)) return value.map(narrow)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, narrow(item)]))
  }
  fc.assert(
    fc.property(tree, (value) => {
      expect(parseJson(printJson(value))).toEqual(narrow(value))
    }),
  )
})

test('an undefined member is left out, as JSON does', () => {
  expect(printJson({ a: undefined, b: 2n, c: [undefined] })).toBe('{"b":2,"c":[null]}')
})
