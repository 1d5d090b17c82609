/** `npm run soak -- --seed S --runs N`: random schedules against whole gateways; exit 1 when a property is broken. */
import { parseArgs } from 'node:util'
import { report, soak } from './soaking.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    runs: { type: 'string', default: '200' },
    'keep-going': { type: 'boolean', default: false },
    shrink: { type: 'string', default: '30' },
    verbose: { type: 'boolean', default: false },
  },
})

const number = (name: string, text: string): number => {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`--${name} wants a whole number`)
  return value
}

const began = performance.now()
const result = await soak({
  seed: number('seed', values.seed),
  runs: number('runs', values.runs),
  maxFailures: values['keep-going'] ? Number.POSITIVE_INFINITY : 1,
  shrinkMs: number('shrink', values.shrink) * 1000,
  onFailure: (failure) => console.log(`${report(failure)}\n`),
  onRun: (seed, ms) => {
    if (values.verbose) console.log(`seed ${seed}: ${Math.round(ms)} ms`)
  },
})
console.log(result.coverage.table())
const missing = result.coverage.missing()
if (missing.length > 0) console.log(`never came up: ${missing.join(', ')}`)
const seconds = (performance.now() - began) / 1000
const cpu = process.cpuUsage()
console.log(
  `${result.runs} schedules, ${result.failures.length} failed; ${seconds.toFixed(1)} s, ${(
    (cpu.user + cpu.system) / 1e6 / Math.max(1, result.runs)
  ).toFixed(2)} s CPU each`,
)
process.exitCode = result.failures.length > 0 ? 1 : 0
