/**
 * How an API server behaves, asked of the cluster of a kubeconfig and compared with what was recorded.
 *
 *   node --import tsx test/conformance/main.ts --kubeconfig FILE [--etcd URL] [--record] [SUBJECT[/PROBE]…]
 *
 * `--record` writes the answers down instead. `--etcd` (its client URL) lets probes of expired versions run. Exit
 * code 1 when an answer differs. Take a cluster that is there for this: it makes namespaces and custom kinds, and
 * takes them away.
 */
import { parseArgs } from 'node:util'
import { Connection } from './connection.ts'
import { differences } from './difference.ts'
import { etcdCompaction } from './etcd.ts'
import { readAccess } from './kubeconfig.ts'
import { type Outcome, record, recordedAnswers, runSuite } from './suite.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    kubeconfig: { type: 'string' },
    etcd: { type: 'string' },
    record: { type: 'boolean', default: false },
  },
})
if (values.kubeconfig === undefined) throw new Error('--kubeconfig FILE says which cluster is asked')
const connection = new Connection(readAccess(values.kubeconfig))
const outcomes = await runSuite({
  connection,
  hooks: { controllers: true, ...(values.etcd && { compact: etcdCompaction(values.etcd) }) },
  width: 8,
  wanted: (subject, probe) =>
    positionals.length === 0 || positionals.includes(subject) || positionals.includes(`${subject}/${probe}`),
  onOutcome: (outcome) => report(outcome, values.record),
})
connection.close()
if (values.record) record(outcomes)
const failed = outcomes.filter((outcome) => problems(outcome, values.record).length > 0).length
process.stdout.write(`${outcomes.length - failed} as recorded, ${failed} not\n`)
process.exitCode = failed === 0 ? 0 : 1

function problems({ subject, probe, seen }: Outcome, recording: boolean): string[] {
  if ('leftOut' in seen) return []
  if ('error' in seen) return [seen.error.stack ?? seen.error.message]
  return recording ? [] : differences(recordedAnswers(subject)[probe] ?? [], seen.answer)
}

function report(outcome: Outcome, recording: boolean): void {
  const { subject, probe, seen } = outcome
  const found = problems(outcome, recording)
  const word = 'leftOut' in seen ? `left out (${seen.leftOut})` : found.length === 0 ? 'ok' : 'DIFFERS'
  process.stdout.write(`${word}  ${subject}/${probe}\n`)
  for (const line of found) process.stdout.write(`    ${line}\n`)
}
