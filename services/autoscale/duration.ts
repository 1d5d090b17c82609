import type { PlanValue } from '../plans/scalars.ts'

const PARTS = /^(?=\d)(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,8}(?:\.\d{1,9})?)s)?$/

/** Seconds of a duration as Go and Prometheus write it (`60s`, `5m`, `1h30m`), or of a bare number; null for anything else. */
export function readSeconds(value: PlanValue): number | null {
  if (typeof value === 'number') return Number.isFinite(value) && value >= 0 && value < 1e9 ? value : null
  if (typeof value !== 'string') return null
  const match = PARTS.exec(value.trim())
  if (!match) return null
  const [, hours = '0', minutes = '0', seconds = '0'] = match
  return Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)
}

/** `300s`: the form in which the contract writes it. */
export const writeSeconds = (seconds: number): string => `${seconds}s`
