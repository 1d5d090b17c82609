/**
 * A time as Leases carry it (metav1.MicroTime): RFC 3339 with exactly six fractional digits. The API server
 * refuses three, which is what JavaScript writes.
 */
export function microTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, -1)}000Z`
}

/** Milliseconds since the epoch; null for an absent or unreadable time. */
export function parseMicroTime(text: unknown): number | null {
  if (typeof text !== 'string') return null
  const ms = Date.parse(text)
  return Number.isNaN(ms) ? null : ms
}
