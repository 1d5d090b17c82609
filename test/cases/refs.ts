import type { ObjectRef } from '../../sandbox/api/types.ts'

const unitMs: Record<string, number> = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1 }

/** Milliseconds of `30s`, `5m`, `1h` or `1h30m`; undefined for anything else. */
export function durationMs(text: string): number | undefined {
  if (!/^(\d+(h|ms|m|s))+$/.test(text)) return undefined
  let sum = 0
  for (const [, amount, unit] of text.matchAll(/(\d+)(h|ms|m|s)/g))
    sum += Number(amount) * (unitMs[unit ?? ''] ?? 0)
  return sum
}

/** Milliseconds since the epoch of an RFC 3339 time; undefined for anything else. */
export function timeMs(text: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text)) return undefined
  const ms = Date.parse(text)
  return Number.isNaN(ms) ? undefined : ms
}

/** `Kind/namespace/name`, or `Kind//name` for a cluster-scoped object; undefined for anything else. */
export function objectRef(text: string): ObjectRef | undefined {
  const [kind, namespace, name, ...rest] = text.split('/')
  if (!kind || namespace === undefined || !name || rest.length > 0) return undefined
  return namespace === '' ? { kind, name } : { kind, namespace, name }
}

/** A chart as helm's file names have it, split before the last `-<digit>`; undefined where there is none. */
export function chartOf(text: string): { name: string; version: string } | undefined {
  const parts = /^(.+)-(\d.*)$/.exec(text)
  return parts?.[1] && parts[2] ? { name: parts[1], version: parts[2] } : undefined
}
