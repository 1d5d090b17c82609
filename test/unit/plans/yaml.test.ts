import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { type PlanValue, toJson } from '../../../services/plans/scalars.ts'
import { readYaml, readYamlMap, writeYaml } from '../../../services/plans/yaml.ts'

const value = (text: string): PlanValue => {
  const reading = readYaml(text)
  if (!reading.ok) throw new Error(reading.reason)
  return reading.value
}
const reason = (text: string): string => {
  const reading = readYaml(text)
  return reading.ok ? 'no failure' : reading.reason
}

describe('plain scalars mean what they mean to helm', () => {
  test.each<[string, PlanValue]>([
    ['yes', true],
    ['On', true],
    ['y', true],
    ['NO', false],
    ['off', false],
    ['true', true],
    ['tRue', 'tRue'],
    ['~', null],
    ['', null],
    ['Null', null],
    ['0755', 493],
    ['0o755', 493],
    ['0x1F', 31],
    ['0b101', 5],
    ['-0b101', -5],
    ['1_000', 1000],
    ['0899', 899],
    ['-7', -7],
    ['+7', 7],
    ['9007199254740991', 9007199254740991],
    ['9007199254740993', 9007199254740993n],
    ['-18446744073709551617', -18446744073709551617n],
    ['1.10', 1.1],
    ['.5', 0.5],
    ['1.', 1],
    ['1e3', 1000],
    ['e5', 'e5'],
    ['.', '.'],
    ['-x', '-x'],
    ['-.inf', Number.NEGATIVE_INFINITY],
    ['1:30', '1:30'],
    ['12:00:00', '12:00:00'],
    ['2031-01-01', '2031-01-01'],
    ['2031-01-01T00:00:00Z', '2031-01-01T00:00:00Z'],
    ['1.2.3', '1.2.3'],
    ['"yes"', 'yes'],
    ["'0755'", '0755'],
    ['!!str 12', '12'],
    ['!!int "12"', 12],
    ['!secret 12', '12'],
    ['0X1F', 31],
    ['0O17', 15],
    ['0B11', 3],
    ['1e400', '1e400'],
  ])('%s', (text, expected) => {
    expect(value(`a: ${text}`)).toEqual({ a: expected })
  })

  test('keys become text as Kubernetes writes them', () => {
    expect(value('on: 1\n8080: 2\n~: 3\n"on": 4\n')).toEqual({ true: 1, '8080': 2, null: 3, on: 4 })
  })

  test('as text, every digit stays', () => {
    const reading = readYaml('version: 1.10\nref: 0012\nforced: yes\nnothing: ~\nempty:\n', { asText: true })
    expect(reading).toEqual({
      ok: true,
      value: { version: '1.10', ref: '0012', forced: 'yes', nothing: null, empty: null },
    })
  })
})

describe('structure', () => {
  test('the last of two equal keys wins, as in helm', () => {
    expect(value('a: 1\na: 2\n')).toEqual({ a: 2 })
  })

  test('aliases and merge keys are unfolded', () => {
    const text = 'base: &b {i: 1, j: 1}\nother: &o {i: 2, k: 2}\nuse: {<<: [*b, *o], j: 3}\nlist: [*b]\n'
    expect(value(text)).toMatchObject({ use: { i: 1, j: 3, k: 2 }, list: [{ i: 1, j: 1 }] })
    expect(value('a: {"<<": 1}')).toEqual({ a: { '<<': 1 } })
  })

  test('a key named __proto__ is a key like any other', () => {
    const read = value('__proto__: {polluted: true}\n') as Record<string, PlanValue>
    expect(Object.keys(read)).toEqual(['__proto__'])
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
    expect(value(writeYaml(read))).toEqual(read)
  })

  test('an empty text is a map without keys, a list is no map', () => {
    expect(readYamlMap('# nothing\n')).toEqual({ ok: true, value: {} })
    expect(readYamlMap('[1]')).toEqual({ ok: false, reason: 'is not a map' })
    expect(readYamlMap('text')).toEqual({ ok: false, reason: 'is not a map' })
  })
})

describe('what cannot be read', () => {
  test.each([
    ['token: s3cr3t: x\n', /^is not valid YAML \(line 1, column \d+: /],
    ['a: b\n\t- s3cr3t\n', /^is not valid YAML \(line 2, column \d+: /],
    ['a: "s3cr3t\n', /^is not valid YAML/],
    ['a: s3cr3t\n---\nb: 1\n', /more than one document/],
    ['a: *s3cr3t\n', /alias/],
    ['a: &s3cr3t [*s3cr3t]\n', /alias/],
    ['{[s3cr3t]: 1}', /key that is a list/],
    ['a: {<<: s3cr3t}', /merges something/],
    ['a: [closed s3cr3t\n', /^is not valid YAML/],
  ])('%j says where and not what', (text, expected) => {
    expect(reason(text)).toMatch(expected)
    expect(reason(text)).not.toContain('s3cr3t')
  })

  test('more than 1 MiB, too deep, too many aliases', () => {
    expect(reason(`a: ${'x'.repeat(1024 * 1024)}`)).toBe('is larger than 1 MiB')
    expect(reason('['.repeat(20_000))).toMatch(/nested too deeply|not valid YAML/)
    expect(reason(`a: ${'{b: '.repeat(300)}1${'}'.repeat(300)}`)).toBe('is nested too deeply')
    expect(reason(`a: &a 1\nb: [${Array(101).fill('*a').join(', ')}]`)).toBe('has too many aliases')
  })

  test('an alias bomb ends before it unfolds', () => {
    const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]']
    for (let i = 1; i < 10; i++)
      lines.push(
        `a${i}: &a${i} [${Array(10)
          .fill(`*a${i - 1}`)
          .join(', ')}]`,
      )
    expect(reason(lines.join('\n'))).toBe('has too many aliases')
  })
})

describe('what is written', () => {
  const scalar = fc.oneof(
    fc.constant(null),
    fc.boolean(),
    fc.integer(),
    fc
      .double({ noNaN: true })
      .filter(
        (number) => !Object.is(number, -0) && (!Number.isInteger(number) || Number.isSafeInteger(number)),
      ),
    fc.bigInt().filter((big) => !Number.isSafeInteger(Number(big))),
    fc.string({ unit: 'grapheme' }),
    fc.string({ unit: 'binary' }).filter((text) => text.isWellFormed()),
    fc.constantFrom(
      'yes',
      '0755',
      '1:30',
      '2031-01-01',
      'e5',
      '.',
      '<<',
      '=',
      '~',
      '',
      ' ',
      '1_0',
      '0o7',
      '-',
    ),
    fc.constantFrom(
      'a\nb',
      'a\n',
      '\na',
      'a\n\n',
      ' a\nb',
      'a\n b\n',
      'a\n\tb',
      '# a',
      'a: b',
      'a #b',
      '\u0085',
      '\ufeffa',
      'x\u2028y',
      '--- a',
      '%a\nb',
    ),
  )
  const tree = fc.letrec<{ node: PlanValue }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 4 },
      scalar,
      fc.array(tie('node'), { maxLength: 4 }),
      fc.dictionary(
        fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('on', '12', '<<', '1.5', 'null')),
        tie('node'),
        { maxKeys: 4 },
      ),
    ),
  })).node as fc.Arbitrary<PlanValue>

  test('is read back as the same value', () => {
    fc.assert(
      fc.property(tree, (tree) => {
        expect(value(writeYaml(tree))).toEqual(tree)
      }),
      { numRuns: 150 },
    )
  })

  test('means the same to readers of YAML 1.1 and 1.2', () => {
    const words = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('yes', 'on', '0755', '0o7', '1:30', '2031-01-01', '1e3', '=', '.5', '1_000', 'y'),
    )
    fc.assert(
      fc.property(fc.dictionary(fc.stringMatching(/^[a-z]{2}x$/), words), (map) => {
        const text = writeYaml(map)
        expect(parse(text, { version: '1.1' })).toEqual(map)
        expect(parse(text, { version: '1.2' })).toEqual(map)
      }),
      { numRuns: 150 },
    )
  })

  test('has no character that YAML 1.1 takes for a line break', () => {
    const text = writeYaml({ a: 'x\u2028y\u0085z\u007f\ufeff', 'k\u2029': 1 })
    expect(text).not.toMatch(/[\u0085\u2028\u2029\ufeff\u007f]/)
    expect(value(text)).toEqual({ a: 'x\u2028y\u0085z\u007f\ufeff', 'k\u2029': 1 })
  })

  test('becomes JSON with big integers as text', () => {
    expect(toJson({ a: 2n ** 60n, b: [1, Number.NaN], c: null, d: { __proto__x: 'y' } })).toEqual({
      a: '1152921504606846976',
      b: [1, 'NaN'],
      c: null,
      d: { __proto__x: 'y' },
    })
  })
})
