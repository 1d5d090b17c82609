/** One of several processes that write one audit log at the same time: see `processes.ts`. */

import { systemClock } from '../../../server/clock.ts'
import { postgresAudit } from '../../../services/audit/postgresAudit.ts'
import { sqliteAudit } from '../../../services/audit/sqliteAudit.ts'
import { quiet, run, succeeded } from './runs.ts'

const [store = '', actor = ''] = process.argv.slice(2)
const options = { clock: systemClock, logger: quiet }
const log = store.startsWith('postgres:')
  ? postgresAudit({ url: store, ...options })
  : sqliteAudit({ path: store, ...options })
for (let i = 0; i < 15; i++) {
  log.start(run(`shared-${i}`))
  log.finish(run(`shared-${i}`), succeeded({ output: actor }))
  if (i % 3 === 0) log.start(run(`own-${actor}-${i}`))
  if (i % 3 === 0) log.finish(run(`own-${actor}-${i}`), succeeded())
  await log.flush()
}
process.stdout.write(`${log.warning()}\n`)
await log.close()
