/** One of several processes that write one audit file at the same time: see `sqliteAudit.test.ts`. */
import { sqliteAudit } from '../../../services/audit/sqliteAudit.ts'
import { quiet, run, succeeded } from './runs.ts'

const [path = '', actor = ''] = process.argv.slice(2)
const clock = {
  now: () => Date.now(),
  setTimer: (ms: number, fire: () => void) => {
    const timer = setTimeout(fire, ms)
    return () => clearTimeout(timer)
  },
}
const log = sqliteAudit({ path, clock, logger: quiet })
for (let i = 0; i < 15; i++) {
  log.start(run(`shared-${i}`))
  log.finish(run(`shared-${i}`), succeeded({ output: actor }))
  if (i % 3 === 0) log.start(run(`own-${actor}-${i}`))
  if (i % 3 === 0) log.finish(run(`own-${actor}-${i}`), succeeded())
  await log.flush()
}
process.stdout.write(`${log.warning()}\n`)
await log.close()
