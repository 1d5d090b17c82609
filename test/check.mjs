#!/usr/bin/env node
/**
 * What is said of the house, checked: types, format and lint, owned promises, layering, one clock, dead code,
 * small files, and that schema.graphql is what the code prints. Every part runs; exit 1 when one fails.
 */
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

const ROOMS = ['schema', 'resolvers', 'services', 'loops', 'subscriptions', 'server', 'sandbox']
/** Rooms that take time, logger and environment from whoever calls them. */
const TIMELESS = ['schema', 'resolvers', 'services', 'loops', 'subscriptions']
const REACHED_FOR = /\b(Date\.now\(|new Date\(\)|setTimeout\(|setInterval\(|console\.|process\.env)/
const MAX_LINES = 300

function run(...command) {
  const { status, stdout, stderr } = spawnSync('npx', ['--no-install', ...command], {
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0' },
  })
  return status === 0 ? [] : [`${stdout}${stderr}`.trim()]
}

function* sources(folder) {
  for (const name of readdirSync(folder).sort()) {
    const path = join(folder, name)
    if (statSync(path).isDirectory()) yield* sources(path)
    else if (path.endsWith('.ts')) yield path
  }
}

function linesThat(rooms, test) {
  const found = []
  for (const room of rooms) {
    for (const path of sources(room)) {
      readFileSync(path, 'utf8')
        .split('\n')
        .forEach((line, index) => {
          if (!/^\s*(\*|\/\/|\/\*)/.test(line) && test(line))
            found.push(`${path}:${index + 1}: ${line.trim()}`)
        })
    }
  }
  return found
}

function printedSchema() {
  const printed = spawnSync('node', ['--import', 'tsx', 'server/printSchema.ts'], { encoding: 'utf8' })
  if (printed.status !== 0) return [printed.stderr]
  if (printed.stdout === readFileSync('schema.graphql', 'utf8')) return []
  return ['schema.graphql is not what the code prints; run `npm run schema` and look at the difference']
}

const parts = {
  types: () => run('tsc', '--noEmit'),
  'format and lint': () => run('biome', 'ci', '--diagnostic-level=warn', '.'),
  'owned promises': () => run('eslint', '.'),
  layering: () => run('depcruise', '--config', '.dependency-cruiser.cjs', ...ROOMS),
  'dead code': () => run('knip', '--no-progress'),
  'one clock, one logger': () => linesThat(TIMELESS, (line) => REACHED_FOR.test(line)),
  'small files': () =>
    ROOMS.flatMap((room) =>
      [...sources(room)].flatMap((path) => {
        const lines = readFileSync(path, 'utf8').split('\n').length - 1
        return lines > MAX_LINES ? [`${path} has ${lines} lines; split it along a noun`] : []
      }),
    ),
  'schema.graphql': printedSchema,
}

let failed = 0
for (const [name, check] of Object.entries(parts)) {
  const began = Date.now()
  const problems = check()
  const took = `${((Date.now() - began) / 1000).toFixed(1)} s`
  console.log(`${problems.length === 0 ? 'ok  ' : 'FAIL'} ${name} (${took})`)
  for (const problem of problems) console.log(problem.replace(/^/gm, '     '))
  if (problems.length > 0) failed++
}
console.log(`check: ${Object.keys(parts).length - failed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
