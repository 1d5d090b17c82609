/** The arguments of helm for an apply and a rollback (contract, section 7). Pure. */
import type { ReleaseRef } from '../deployments/row.ts'

/** The values of one layer: what the name of its file says, and its YAML as it is stored. */
export interface ValueLayer {
  name: string
  text: string
}

export interface Upgrade {
  chart: UpgradeChart
  /** The non-empty layers in the order in which they are merged. */
  layers: readonly ValueLayer[]
  /** helm 4 only. */
  forceConflicts: boolean
}

/** A chart as helm is to find it: by repository, at an `oci://` address, or by path. */
export interface UpgradeChart {
  chart: string
  version: string | null
  /** Address of a chart repository over HTTP; null for the other two. */
  repo: string | null
}

/**
 * The chart that a plan names, as helm takes it; a sentence when it names none that helm could be given.
 *
 * @param path a chart on the gateway's own disk; it wins over name and repository
 */
export function upgradeChart(
  chart: { name: string; version: string | null; repo: string | null } | null,
  path: string | null,
): UpgradeChart | string {
  const version = chart?.version ?? null
  const found = path ?? chart?.name ?? null
  if (found === null) return 'the plan names no chart'
  // It would be an option.
  if (found.startsWith('-')) return 'the name or path of the chart begins with a dash'
  if (path !== null || !chart?.repo) return { chart: found, version, repo: null }
  if (!chart.repo.startsWith('oci://')) return { chart: chart.name, version, repo: chart.repo }
  return { chart: `${chart.repo.replace(/\/+$/, '')}/${chart.name}`, version, repo: null }
}

/** @param files paths of the layers' files, in the order of the layers */
export function upgradeArgs(
  { namespace, name }: ReleaseRef,
  { chart, forceConflicts }: Upgrade,
  files: readonly string[],
): string[] {
  return [
    'upgrade',
    '--install',
    name,
    chart.chart,
    '--namespace',
    namespace,
    ...(chart.version === null ? [] : ['--version', chart.version]),
    ...(chart.repo === null ? [] : ['--repo', chart.repo]),
    '--reset-values',
    ...files.flatMap((file) => ['-f', file]),
    ...(forceConflicts ? ['--force-conflicts'] : []),
  ]
}

export const rollbackArgs = ({ namespace, name }: ReleaseRef, revision: number): string[] => [
  'rollback',
  name,
  String(revision),
  '--namespace',
  namespace,
]
