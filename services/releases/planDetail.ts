import {
  mergeLayers,
  type PlanData,
  type PlanDocument,
  type PlanLayer,
  readLayers,
} from '../plans/document.ts'
import type { PlanDetail } from './detailTypes.ts'

/** A plan as it is shown; the reason where a part of it cannot be read. */
export function planDetail(
  document: PlanDocument,
  data: PlanData,
): { plan: PlanDetail } | { unreadable: string } {
  if (document.unreadable !== null) return { unreadable: document.unreadable }
  const read = readLayers(data)
  if (!read.ok) return { unreadable: read.reason }
  return { plan: planOf(document, read.layers) }
}

/** As `planDetail`, of a plan whose layers have been read. */
export function planOf(document: PlanDocument, layers: readonly PlanLayer[]): PlanDetail {
  const { hash, engine, profile, chart, source } = document
  return { hash, engine, profile, chart, source, layers: [...layers], values: mergeLayers(layers) }
}
