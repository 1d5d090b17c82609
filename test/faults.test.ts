import { describe, expect, it } from 'vitest'
import { generate } from './faults/generate.ts'
import { PLANTED, withPlanted } from './faults/planted.ts'
import { report, soak } from './faults/soaking.ts'

/** The seed of what runs with every test; the long soak takes others. */
const SEED = 1
const RUNS = 200
/** Real milliseconds: generous, since the machine may be busy with other tests. */
const LIMIT_MS = 900_000

describe('random schedules', () => {
  it('are the same for the same seed', () => {
    expect(generate(SEED)).toEqual(generate(SEED))
    expect(generate(SEED)).not.toEqual(generate(SEED + 1))
  })

  it(
    'break no property, and bring up each fault, kill point and phase edge',
    async () => {
      const { failures, coverage } = await soak({ seed: SEED, runs: RUNS, maxFailures: 1, shrinkMs: 30_000 })
      expect(failures.map(report).join('\n')).toBe('')
      console.info(coverage.table())
      expect(coverage.missing()).toEqual([])
    },
    LIMIT_MS,
  )
})

describe('a bug that is put in on purpose is found', () => {
  for (const [name, plants] of Object.entries(PLANTED)) {
    it(
      name,
      async () => {
        const { plant, takeOut } = withPlanted(plants)
        try {
          const { failures } = await soak({ seed: SEED, runs: RUNS, maxFailures: 1, shrinkMs: 0, plant })
          expect(failures).toHaveLength(1)
        } finally {
          takeOut()
        }
      },
      LIMIT_MS,
    )
  }
})
