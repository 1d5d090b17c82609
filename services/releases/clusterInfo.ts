import type { AuditLog } from '../audit/run.ts'
import type { KubeClient } from '../cluster/client.ts'
import type { LeaderElector } from '../cluster/leaderElection.ts'
import type { ReflectorStatus } from '../cluster/reflector.ts'
import type { ClusterCaches } from '../deployments/caches.ts'
import type { ClusterInfo } from './detailTypes.ts'

/** An offset of the gateway's clock from the API server's that is worth a warning. */
const CLOCK_WARNING_MS = 5000

export interface ClusterInfoOptions {
  name: string | null
  gatewayVersion: string
  readOnly: boolean
  client: KubeClient
  caches: ClusterCaches
  audit: AuditLog
  elector: LeaderElector
  /** What is known of the versions; filled in as the answers come. */
  versions: { kubernetes: string | null; helm: string | null; helmMissing: string | null }
}

/** The cluster as this gateway sees it now: no call, all of it is known already. */
export function clusterInfo(options: ClusterInfoOptions): ClusterInfo {
  const { caches, versions, elector } = options
  const services = caches.llmServices.status()
  return {
    name: options.name,
    kubernetesVersion: versions.kubernetes,
    gatewayVersion: options.gatewayVersion,
    helmVersion: versions.helm,
    readOnly: options.readOnly,
    llmServicesServed: services.some(({ state }) => state === 'synced' || state === 'failing'),
    warnings: warnings(options),
    leader: elector.leader,
  }
}

function warnings({ caches, client, audit, versions, elector }: ClusterInfoOptions): string[] {
  const found = caches.status().flatMap((status) => cacheWarning(status) ?? [])
  if (Math.abs(client.clockOffsetMs) > CLOCK_WARNING_MS) {
    const seconds = Math.round(client.clockOffsetMs / 1000)
    found.push(`the API server's clock is ${seconds} s ahead of this gateway's; times follow the API server`)
  }
  if (versions.helmMissing !== null) {
    found.push(`helm releases cannot be uninstalled: ${versions.helmMissing}`)
  }
  if (elector.lastError !== null) found.push(`the leader Lease cannot be held: ${elector.lastError}`)
  const auditWarning = audit.warning()
  if (auditWarning !== null) found.push(auditWarning)
  if (!audit.shared && elector.anotherGateway !== null) {
    found.push(
      `another gateway (${elector.anotherGateway}) works on this cluster, and the audit log is a file: runs that ` +
        'it records elsewhere are missing here; give all gateways the same --audit-url',
    )
  }
  return [...new Set(found)]
}

function cacheWarning({ kind, namespace, state, lastError }: ReflectorStatus): string | null {
  const what = `${kind}s${namespace ? ` in ${namespace}` : ''}`
  switch (state) {
    case 'absent':
      return `${what} are not served by this cluster; they are looked for every 30 s`
    case 'forbidden':
      return `${what} may not be read by this gateway; they are tried again every 30 s`
    case 'failing':
      return `${what} cannot be read and may be out of date: ${lastError ?? 'no answer'}`
    default:
      return null
  }
}
