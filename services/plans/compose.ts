/** Composing a plan: pure, from what there is and what is asked for (contract, section 7). */
import type { ReleaseRef } from '../deployments/row.ts'
import { changeRead, type ReadPlan } from './change.ts'
import { type Difference, differences } from './differences.ts'
import {
  mapAt,
  mergeLayers,
  PLAN_KEY,
  type PlanData,
  type PlanLayer,
  readLayers,
  readPlan,
  STATUS_KEY,
} from './document.ts'
import type { PlanIssue } from './planInput.ts'
import type { PlanMap } from './scalars.ts'
import { type Shadowed, shadowedValues } from './shadowed.ts'
import { readYamlMap } from './yaml.ts'

/** A ConfigMap and a Secret end at 1 MiB; a status with the one before it, labels and the like need room too. */
export const MAX_PLAN_BYTES = 960 * 1024

export type PlanPart = 'VALUES' | 'CHART' | 'SOURCE'

/** What is different from what runs. */
export interface PlanDifference extends Difference {
  part: PlanPart
}

export interface Composition {
  /** A live plan, an LLMService as one, or a whole document. */
  base: PlanData
  /** Where in the input that is said, for issues with it. */
  basePath: readonly string[]
  /** For which release. */
  release: ReleaseRef
  /** Merged onto the form layer; null changes nothing. */
  form: PlanMap | null
  /** Replaces the edit layer; null keeps it. */
  edits: PlanMap | null
  chartVersion: string | null
  /** The live plan of that release; null where there is none. */
  running: PlanData | null
}

export interface ComposedDocument {
  data: PlanData
  /** What its layers say. */
  layers: readonly PlanLayer[]
  shadowed: Shadowed[]
  changes: PlanDifference[]
  warnings: string[]
}

/** The plan that is asked for, and how it differs from what runs; or why there is none. Nothing given is changed. */
export function composePlan(composition: Composition): ComposedDocument | { issues: PlanIssue[] } {
  const { base, basePath, release, form, edits, chartVersion, running } = composition
  const issue = (path: readonly string[], message: string) => ({ issues: [{ path: [...path], message }] })
  const before = readPlan(base)
  if (before.unreadable !== null)
    return issue(basePath, `has a plan that cannot be read: it ${before.unreadable}`)
  const stored = readLayers(base)
  if (!stored.ok) return issue(basePath, `has a plan that cannot be read: ${stored.reason}`)

  const { data, layers } = changeRead(
    { data: kept(base, release), layers: stored.layers },
    { form, edits, release, chartVersion },
  )
  const issues = [...chartIssues(data, composition), ...sizeIssues(data)]
  if (issues.length > 0) return { issues }
  const shadowed = shadowedValues(layers)
  const warnings: string[] = []
  const lost =
    form === null ? [] : shadowed.filter(({ by, under }) => by === 'edit' && under.includes('form'))
  if (lost.length > 0) {
    const paths = lost.map(({ path }) => path).slice(0, 5)
    warnings.push(`values of the form have no effect, because the edit layer has others: ${paths.join(', ')}`)
  }
  const runs = running === base ? stored.layers : layersOf(running)
  const changes = changesOf({ data: running ?? {}, layers: runs }, { data, layers })
  if (chartVersion !== null && readPlan(data).chartPath !== null) {
    warnings.push('the chart lies at a path, where helm takes whatever version is there')
  }
  return { data, layers, shadowed, changes, warnings }
}

/** Without its status, and for another release without what older tools have made for that one. */
function kept(base: PlanData, release: ReleaseRef): PlanData {
  const { [STATUS_KEY]: _, ...data } = base
  const own = readPlan(base).release
  if (own === null || own.name === release.name) return data
  const { 'helmfile.yaml': __, ...rest } = data
  return rest
}

/** What helm could not be called with. */
function chartIssues(data: PlanData, { basePath, chartVersion }: Composition): PlanIssue[] {
  const plan = readPlan(data)
  const chart = plan.chart
  const issues: PlanIssue[] = []
  const say = (path: readonly string[], message: string) => void issues.push({ path: [...path], message })
  const at = (key: string) => (basePath.at(-1) === 'fromRelease' ? basePath : [...basePath, 'chart', key])
  if (chart === null && plan.chartPath === null) say(at('name'), 'has no chart')
  if (chart !== null && plan.chartPath === null && chart.version === null) {
    say(at('version'), 'has no version of the chart')
  }
  const words = { name: chart?.name, version: chart?.version, repo: chart?.repo, path: plan.chartPath }
  for (const [key, word] of Object.entries(words)) {
    // helm would take it for a flag, or for several words.
    if (!word || /^[^-\s\p{Cc}][^\s\p{Cc}]*$/u.test(word)) continue
    const path = key === 'version' && chartVersion !== null ? ['input', 'chartVersion'] : at(key)
    say(path, 'must be one word that does not begin with a dash')
  }
  return issues
}

function sizeIssues(data: PlanData): PlanIssue[] {
  const bytes = Object.values(data).reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  return bytes > MAX_PLAN_BYTES
    ? [
        {
          path: ['input'],
          message: `makes a plan of ${bytes} bytes; ${MAX_PLAN_BYTES} are the most that can be kept`,
        },
      ]
    : []
}

function changesOf(from: ReadPlan, to: ReadPlan): PlanDifference[] {
  const [before, after] = [partsOf(from.data), partsOf(to.data)]
  const all: [PlanPart, Difference[]][] = [
    ['CHART', differences(before.chart, after.chart)],
    ['SOURCE', differences(before.source, after.source)],
    ['VALUES', differences(mergeLayers(from.layers), mergeLayers(to.layers))],
  ]
  return all.flatMap(([part, found]) => found.map((difference) => ({ part, ...difference })))
}

/** The chart and the source of a plan, digit for digit. */
function partsOf(data: PlanData): { chart: PlanMap; source: PlanMap } {
  const reading = readYamlMap(data[PLAN_KEY] ?? '', { asText: true })
  const plan = reading.ok ? reading.value : {}
  const { engine = null, profile = null } = plan
  const source = { ...mapAt(plan, 'source'), engine, profile }
  return { chart: said(mapAt(plan, 'chart') ?? {}), source: said(source) }
}

const said = (map: PlanMap): PlanMap =>
  Object.fromEntries(Object.entries(map).filter(([, value]) => value !== null))

/** None where they cannot be read: then everything differs. */
function layersOf(data: PlanData | null): PlanLayer[] {
  const read = data === null ? null : readLayers(data)
  return read?.ok ? read.layers : []
}
