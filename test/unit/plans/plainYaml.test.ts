import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readPlainYaml } from '../../../services/plans/plainYaml.ts'
import type { PlanValue } from '../../../services/plans/scalars.ts'
import { parseYaml, writeYaml } from '../../../services/plans/yaml.ts'

describe('the short way for plain maps', () => {
  const word = fc.oneof(
    fc.constantFrom(
      'a',
      'key',
      'on',
      'y',
      'null',
      '12',
      '0755',
      '1.10',
      '1:30',
      'e5',
      '-1',
      '-',
      '--',
      '- a',
      '.',
      '~',
      'a b',
      'a  b',
      'a #b',
      'a: b',
      'a:b',
      'a:',
      'x,y',
      '(z)',
      '=',
      '<<',
      '{}',
      '[]',
      '&a',
      '*a',
      '!a',
      '|',
      '>',
      '%a',
      '@a',
      '`a',
      '?',
      '? a',
      '#a',
      '',
    ),
    fc.stringMatching(/^[ -~]{0,6}$/),
  )
  const value = fc.oneof(
    word,
    word.map((text) => `"${text}"`),
    word.map((text) => `'${text}'`),
  )
  const line = fc.tuple(
    fc.constantFrom('', '', '  ', '  ', '    ', ' '),
    word,
    fc.constantFrom(': ', ':', ':  ', ' : ', ''),
    value,
    fc.constantFrom('', '', '', ' ', ' # c'),
  )
  const text = fc
    .array(
      line.map((parts) => parts.join('')),
      { maxLength: 6 },
    )
    .map((lines) => `${lines.join('\n')}\n`)
  const nested = fc
    .array(
      fc.tuple(
        fc.constantFrom('', '  ', '    '),
        fc.constantFrom('a', 'b', 'on', 'c.d'),
        fc.constantFrom('', ' x', ' 1', ' "0755"', " 'y'", ' -1.5', ' a:b'),
      ),
      { minLength: 1, maxLength: 7 },
    )
    .map((lines) => lines.map(([indent, key, value]) => `${indent}${key}:${value}`).join('\n'))

  const written = fc
    .letrec<{ map: PlanValue }>((tie) => ({
      map: fc.dictionary(
        fc.stringMatching(/^[a-z][a-z.-]{0,3}$/),
        fc.oneof(
          { maxDepth: 3 },
          fc.stringMatching(/^[a-z0-9:/.-]{1,8}$/),
          fc.integer(),
          fc.constant(null),
          tie('map'),
        ),
        { minKeys: 1, maxKeys: 3 },
      ) as fc.Arbitrary<PlanValue>,
    }))
    .map.map((map) => writeYaml(map))

  test('says the same as the parser wherever it says anything', () => {
    let plain = 0
    fc.assert(
      fc.property(fc.oneof(text, nested, written), fc.boolean(), (text, asText) => {
        const short = readPlainYaml(text, asText)
        if (short === null) return
        plain++
        expect(parseYaml(text === '' ? '{}' : text, { asText })).toEqual({ ok: true, value: short })
      }),
      { numRuns: 1500 },
    )
    expect(plain).toBeGreaterThan(100)
  })

  test('takes what plans and statuses look like', () => {
    const plan =
      'apiVersion: plan.swiss/v1\nrelease:\n  name: chat\n  namespace: team-a\nchart:\n  name: vllm\n  version: 0.4.0\n  repo: https://charts.example.test/stable\nhash: "0123"\n'
    expect(readPlainYaml(plan, true)).toEqual({
      apiVersion: 'plan.swiss/v1',
      release: { name: 'chat', namespace: 'team-a' },
      chart: { name: 'vllm', version: '0.4.0', repo: 'https://charts.example.test/stable' },
      hash: '0123',
    })
    expect(readPlainYaml('phase: applied\nrevision: 3\nupdatedAt: "2031-01-01T00:00:00Z"\n', false)).toEqual({
      phase: 'applied',
      revision: 3,
      updatedAt: '2031-01-01T00:00:00Z',
    })
    expect(readPlainYaml('release: {name: chat}\n', true)).toBeNull()
  })
})
