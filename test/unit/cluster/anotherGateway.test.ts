/** When a gateway knows that it is not alone: what the warning about an audit log in a file is made of. */
import { expect, onTestFinished, test } from 'vitest'
import { memoryAudit } from '../../../services/audit/memoryAudit.ts'
import type { AuditLog } from '../../../services/audit/run.ts'
import { LeaderElector } from '../../../services/cluster/leaderElection.ts'
import { ClusterCaches } from '../../../services/deployments/caches.ts'
import { clusterInfo } from '../../../services/releases/clusterInfo.ts'
import { startSandbox } from './support/sandbox.ts'
import { until } from './support/until.ts'

async function start() {
  const sandbox = await startSandbox()
  const { clock, logger } = sandbox
  const random = () => 0.5
  sandbox.server.store.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'swiss-system' } })
  const candidate = (identity: string) => {
    const client = sandbox.makeClient()
    const elector = new LeaderElector({ client, clock, logger, random, namespace: 'swiss-system', identity })
    const stop = elector.start()
    onTestFinished(() => client.kill())
    const caches = new ClusterCaches({ client, namespaces: [], clock, logger, random })
    const warnings = (shared: boolean) => {
      const audit: AuditLog = { ...memoryAudit(), shared }
      const versions = { kubernetes: null, helm: null, helmMissing: null }
      const options = {
        name: null,
        gatewayVersion: '0',
        readOnly: false,
        client,
        caches,
        audit,
        elector,
        versions,
      }
      return clusterInfo(options).warnings.filter((warning) => warning.includes('audit log'))
    }
    return { client, elector, stop, warnings }
  }
  return { ...sandbox, candidate }
}

test('a leader beside this gateway is warned of once it is known to live, and only where the log is not shared', async () => {
  const { candidate, clock, settle } = await start()
  const a = candidate('a')
  await until('a leader', () => a.elector.isLeader)
  const b = candidate('b')
  await until('b has looked', () => b.elector.leader === 'a')
  expect(b.warnings(false)).toEqual([])
  await clock.advance(30_000, settle)
  expect(b.warnings(false)).toEqual([expect.stringMatching(/^another gateway \(a\) works .*--audit-url$/)])
  expect(b.warnings(true)).toEqual([])
  // The leader sees nobody, as long as it leads.
  expect(a.warnings(false)).toEqual([])
  await a.stop()
  await clock.advance(6_000, settle)
  expect(b.elector.isLeader).toBe(true)
  expect(b.elector.anotherGateway).toBe('a')
})

test('the Lease of an earlier life that was killed is no other gateway', async () => {
  const { candidate, clock, settle } = await start()
  const before = candidate('gateway-1')
  await until('a leader', () => before.elector.isLeader)
  before.client.kill()
  const after = candidate('gateway-2')
  await until('it has looked', () => after.elector.leader === 'gateway-1')
  await clock.advance(60_000, settle)
  expect(after.elector.isLeader).toBe(true)
  expect(after.elector.anotherGateway).toBeNull()
  expect(after.warnings(false)).toEqual([])
})
