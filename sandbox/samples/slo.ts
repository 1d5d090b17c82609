import type { KubeObject } from '../api/types.ts'
import { daysAgo } from './cluster.ts'
import { toYaml } from './plan.ts'

/** Where the SLO service of the sandbox is, and its token. */
export interface SloPlace {
  address: string
  token: string
}

/** Service levels that are there from the beginning, by release. */
export const sampleSlos = {
  chat: {
    route: 'chat',
    highPriority: true,
    minimumDeployment: { type: 'replica', value: 1 },
    maximumDeployment: { type: 'replica', value: 4 },
    ttft: { default: { metrics: [{ type: 'p95', threshold: 2.5 }] } },
    otps: { default: { metrics: [{ type: 'avg', threshold: 30 }] } },
  },
}

/** The site profile carries the managed-by label of the plans and is none: only the name tells them apart. */
export function siteProfile(namespace: string, now: number, slo: SloPlace | undefined): KubeObject[] {
  const metadata = { namespace, creationTimestamp: daysAgo(now, 60) }
  const labels = { 'app.kubernetes.io/managed-by': 'swiss' }
  const address = slo && { sloAddress: slo.address }
  const profile = { name: 'sandbox', scaler: { ...address, sloTokenSecret: `${namespace}/slo-token` } }
  const site = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { ...metadata, name: 'swiss-site', labels },
    data: { 'profile.yaml': toYaml(profile) },
  }
  if (slo === undefined) return [site]
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'Opaque',
    metadata: { ...metadata, name: 'slo-token' },
    data: { token: Buffer.from(slo.token).toString('base64') },
  }
  return [site, secret]
}
