/** The service level of a release as the SLO service keeps it (contract, section 9). Pure. */

export const SLO_STATISTICS = ['AVG', 'P50', 'P80', 'P90', 'P95', 'P99'] as const
export type SloStatistic = (typeof SLO_STATISTICS)[number]

export interface SloThreshold {
  statistic: SloStatistic
  /** In the unit of the SLO service. */
  threshold: number
}

/** What it does not say, or says in another form than we know, is null or left out. */
export interface Slo {
  highPriority: boolean | null
  minimumReplicas: number | null
  maximumReplicas: number | null
  ttft: SloThreshold[]
  otps: SloThreshold[]
}

/** What is absent or null stays as it is. */
export interface SloChange {
  route: string | null
  /** 10 is another word for a high priority, 0 for none. */
  priority: number | null
  highPriority: boolean | null
  minimumReplicas: number | null
  maximumReplicas: number | null
  ttft: SloThreshold[] | null
  otps: SloThreshold[] | null
}

export interface SloIssue {
  path: string[]
  message: string
}

/** Reads the configuration that the SLO service answers with; null for what is none. */
export function readSlo(config: unknown): Slo | null {
  const map = mapOf(config)
  if (map === null) return null
  return {
    highPriority: typeof map.highPriority === 'boolean' ? map.highPriority : null,
    minimumReplicas: replicasOf(map.minimumDeployment),
    maximumReplicas: replicasOf(map.maximumDeployment),
    ttft: thresholdsOf(map.ttft),
    otps: thresholdsOf(map.otps),
  }
}

/** The body that merges a change into the thresholds of a release, or everything that is wrong with it. */
export function sloBody(release: string, change: SloChange): { body: object } | { issues: SloIssue[] } {
  const issues: SloIssue[] = []
  const say = (field: string, message: string) => void issues.push({ path: ['input', field], message })
  const { route, priority, minimumReplicas, maximumReplicas } = change
  if (route !== null && route !== release) say('route', 'must be the name of the release, or left out')
  if (priority !== null && priority !== 0 && priority !== 10) {
    say('priority', 'must be 0 or 10; there is nothing between them')
  } else if (priority !== null && change.highPriority !== null && change.highPriority !== (priority === 10)) {
    say('priority', 'must say the same as highPriority')
  }
  for (const key of ['minimumReplicas', 'maximumReplicas'] as const) {
    const value = change[key]
    if (value !== null && value < 0) say(key, 'must be 0 or more')
  }
  if (minimumReplicas !== null && maximumReplicas !== null && minimumReplicas > maximumReplicas) {
    say('minimumReplicas', 'must not be more than maximumReplicas')
  }
  for (const key of ['ttft', 'otps'] as const) issues.push(...thresholdIssues(key, change[key] ?? []))
  const highPriority = change.highPriority ?? (priority === null ? null : priority === 10)
  const parts = {
    ...(highPriority === null ? {} : { highPriority }),
    ...(minimumReplicas === null ? {} : { minimumDeployment: { type: 'replica', value: minimumReplicas } }),
    ...(maximumReplicas === null ? {} : { maximumDeployment: { type: 'replica', value: maximumReplicas } }),
    ...(change.ttft === null ? {} : { ttft: metricsOf(change.ttft) }),
    ...(change.otps === null ? {} : { otps: metricsOf(change.otps) }),
  }
  if (issues.length === 0 && Object.keys(parts).length === 0) {
    issues.push({ path: ['input'], message: 'has nothing to change' })
  }
  return issues.length > 0 ? { issues } : { body: { route: release, ...parts } }
}

function thresholdIssues(key: 'ttft' | 'otps', thresholds: readonly SloThreshold[]): SloIssue[] {
  const seen = new Set<SloStatistic>()
  return thresholds.flatMap(({ statistic, threshold }, index) => {
    const at = ['input', key, String(index)]
    const twice = seen.has(statistic)
    seen.add(statistic)
    if (twice) return [{ path: [...at, 'statistic'], message: 'is there twice' }]
    return threshold >= 0 ? [] : [{ path: [...at, 'threshold'], message: 'must be 0 or more' }]
  })
}

const metricsOf = (thresholds: readonly SloThreshold[]) => ({
  default: {
    metrics: thresholds.map(({ statistic, threshold }) => ({ type: statistic.toLowerCase(), threshold })),
  },
})

function replicasOf(deployment: unknown): number | null {
  const map = mapOf(deployment)
  return map?.type === 'replica' && Number.isSafeInteger(map.value) ? (map.value as number) : null
}

function thresholdsOf(part: unknown): SloThreshold[] {
  const metrics = mapOf(mapOf(part)?.default)?.metrics
  if (!Array.isArray(metrics)) return []
  return metrics.flatMap((metric) => {
    const { type, threshold } = mapOf(metric) ?? {}
    const statistic = SLO_STATISTICS.find((one) => one.toLowerCase() === type)
    return statistic && typeof threshold === 'number' ? [{ statistic, threshold }] : []
  })
}

const mapOf = (value: unknown): Record<string, unknown> | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null
