import { describe, expect, test } from 'vitest'
import { readSlo, type SloChange, sloBody } from '../../../services/slo/slo.ts'

const NOTHING: SloChange = {
  route: null,
  priority: null,
  highPriority: null,
  minimumReplicas: null,
  maximumReplicas: null,
  ttft: null,
  otps: null,
}
const made = (change: Partial<SloChange>) => sloBody('chat', { ...NOTHING, ...change })

describe('a configuration', () => {
  test('is read field by field', () => {
    expect(
      readSlo({
        route: 'chat',
        highPriority: true,
        minimumDeployment: { type: 'replica', value: 1 },
        maximumDeployment: { type: 'replica', value: 4 },
        ttft: {
          default: {
            metrics: [
              { type: 'p95', threshold: 2.5 },
              { type: 'avg', threshold: 1 },
            ],
          },
        },
        otps: { default: { metrics: [] } },
      }),
    ).toEqual({
      highPriority: true,
      minimumReplicas: 1,
      maximumReplicas: 4,
      ttft: [
        { statistic: 'P95', threshold: 2.5 },
        { statistic: 'AVG', threshold: 1 },
      ],
      otps: [],
    })
  })

  test('that says less, or in another form, is read as far as it goes', () => {
    const nothing = { highPriority: null, minimumReplicas: null, maximumReplicas: null, ttft: [], otps: [] }
    expect(readSlo({})).toEqual(nothing)
    expect(
      readSlo({
        highPriority: 'yes',
        minimumDeployment: { type: 'gpu', value: 1 },
        maximumDeployment: { type: 'replica', value: 1.5 },
        ttft: { default: { metrics: [{ type: 'p75', threshold: 1 }, { type: 'p50' }, null] } },
        otps: [],
      }),
    ).toEqual(nothing)
    for (const odd of [null, undefined, [], 'x', 3]) expect(readSlo(odd)).toBeNull()
  })
})

describe('a change', () => {
  test('says what is to be merged, under the name of the release', () => {
    expect(
      made({
        priority: 10,
        minimumReplicas: 0,
        maximumReplicas: 2,
        ttft: [{ statistic: 'P99', threshold: 3 }],
        otps: [],
      }),
    ).toEqual({
      body: {
        route: 'chat',
        highPriority: true,
        minimumDeployment: { type: 'replica', value: 0 },
        maximumDeployment: { type: 'replica', value: 2 },
        ttft: { default: { metrics: [{ type: 'p99', threshold: 3 }] } },
        otps: { default: { metrics: [] } },
      },
    })
    expect(made({ priority: 0 })).toEqual({ body: { route: 'chat', highPriority: false } })
    expect(made({ priority: 0, highPriority: false, route: 'chat' })).toEqual({
      body: { route: 'chat', highPriority: false },
    })
  })

  test.each<[string, Partial<SloChange>, string[]]>([
    ['nothing', {}, ['input']],
    ['its own route alone', { route: 'chat' }, ['input']],
    ['another route', { route: 'talk', priority: 0 }, ['input.route']],
    ...[1, 2, 3, 4, 5, 6, 7, 8, 9, -1, 11].map((priority): [string, Partial<SloChange>, string[]] => [
      `priority ${priority}`,
      { priority },
      ['input.priority'],
    ]),
    ['priority 10 and no high one', { priority: 10, highPriority: false }, ['input.priority']],
    ['priority 0 and a high one', { priority: 0, highPriority: true }, ['input.priority']],
    [
      'fewer than none',
      { minimumReplicas: -1, maximumReplicas: -1 },
      ['input.minimumReplicas', 'input.maximumReplicas'],
    ],
    ['a minimum above the maximum', { minimumReplicas: 3, maximumReplicas: 2 }, ['input.minimumReplicas']],
    ['a threshold below 0', { ttft: [{ statistic: 'AVG', threshold: -1 }] }, ['input.ttft.0.threshold']],
    [
      'a statistic twice',
      {
        otps: [
          { statistic: 'AVG', threshold: 1 },
          { statistic: 'AVG', threshold: 2 },
        ],
      },
      ['input.otps.1.statistic'],
    ],
  ])('%s is refused', (_what, change, paths) => {
    const result = made(change)
    expect('issues' in result && result.issues.map(({ path }) => path.join('.'))).toEqual(paths)
  })
})
