/** A plan ConfigMap, or the mark of an uninstall beside it, as the cache keeps it. */
import type { KubeObject } from '../cluster/kinds.ts'
import { LAYERS, layerKey, type PlanData, type PlanDocument, readPlan, unreadablePlan } from './document.ts'
import {
  MANAGED_BY,
  MANAGED_BY_LABEL,
  markName,
  mayBeCut,
  PHASE_LABEL,
  planName,
  releaseOfMark,
  releaseOfPlan,
  UNINSTALLING,
} from './names.ts'
import { type PlanStatus, readStatus } from './status.ts'

export interface PlanObject {
  namespace: string
  /** Name of the release it belongs to. */
  release: string
  role: 'plan' | 'mark'
  objectName: string
  uid: string
  resourceVersion: string
  /** Carries the label that says it is Swiss's. */
  managed: boolean
  /** Label or status say that the release is being uninstalled; always true of a mark. */
  marked: boolean
  /** RFC 3339; set while the object itself waits to be removed. */
  deletionTimestamp: string | null
  /** `plan.yaml`; without content for a mark. */
  document: PlanDocument
  status: PlanStatus | null
  /** Why `status.yaml` cannot be read; null when it can, or when there is none. */
  statusUnreadable: string | null
  /** Texts of the value layers, by key, to be read when somebody asks (`readLayers`). */
  layers: PlanData
}

/** Trims a ConfigMap; null when its name says that it is neither a plan nor a mark. */
export function trimPlan(raw: KubeObject): PlanObject | null {
  const { name, namespace, uid, resourceVersion, labels, deletionTimestamp } = raw.metadata
  const role = roleOf(name)
  if (role === null || namespace === undefined) return null
  const data = planData(raw)
  const { status, unreadable } = readStatus(data)
  const document = role === 'plan' ? readPlan(data) : unreadablePlan(null)
  return {
    namespace,
    release: releaseNamed(name, role, document, status),
    role,
    objectName: name,
    uid,
    resourceVersion,
    managed: labels?.[MANAGED_BY_LABEL] === MANAGED_BY,
    marked: role === 'mark' || labels?.[PHASE_LABEL] === UNINSTALLING || status?.phase === UNINSTALLING,
    deletionTimestamp: deletionTimestamp ?? null,
    document,
    status,
    statusUnreadable: unreadable,
    layers: layersOf(data),
  }
}

/** The text keys of a ConfigMap; keys that hold no text are left out. */
export function planData(raw: KubeObject): PlanData {
  const data = raw.data
  if (typeof data !== 'object' || data === null) return {}
  return Object.fromEntries(Object.entries(data).filter(([, value]) => typeof value === 'string'))
}

function roleOf(name: string): PlanObject['role'] | null {
  if (releaseOfPlan(name) !== null) return 'plan'
  return releaseOfMark(name) === null ? null : 'mark'
}

/** The release of a plan or mark; where its name may have been cut, the one in its content that makes that name. */
function releaseNamed(
  name: string,
  role: PlanObject['role'],
  document: PlanDocument,
  status: PlanStatus | null,
): string {
  const inName = (role === 'plan' ? releaseOfPlan(name) : releaseOfMark(name)) as string
  if (!mayBeCut(name)) return inName
  const nameOf = role === 'plan' ? planName : markName
  const told = [document.release?.name, status?.run?.release.name]
  return told.find((release) => release !== undefined && nameOf(release) === name) ?? inName
}

function layersOf(data: PlanData): PlanData {
  const layers: Record<string, string> = {}
  for (const layer of LAYERS) {
    const text = data[layerKey(layer)]
    if (text) layers[layerKey(layer)] = text
  }
  return layers
}
