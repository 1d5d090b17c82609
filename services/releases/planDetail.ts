import { mergeLayers, type PlanData, type PlanDocument, readLayers } from '../plans/document.ts'
import type { PlanDetail } from './detailTypes.ts'

/** A plan as it is shown; the reason where a part of it cannot be read. */
export function planDetail(
  document: PlanDocument,
  data: PlanData,
): { plan: PlanDetail } | { unreadable: string } {
  if (document.unreadable !== null) return { unreadable: document.unreadable }
  const read = readLayers(data)
  if (!read.ok) return { unreadable: read.reason }
  const { hash, engine, profile, chart, source } = document
  return {
    plan: { hash, engine, profile, chart, source, layers: read.layers, values: mergeLayers(read.layers) },
  }
}
