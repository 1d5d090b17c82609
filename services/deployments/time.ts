/** A time that another tool wrote, as RFC 3339 in UTC; null where it is none, so that one bad value spoils no answer. */
export function readTime(text: string | null | undefined): string | null {
  const ms = text ? Date.parse(text) : Number.NaN
  return Number.isNaN(ms) ? null : new Date(ms).toISOString()
}
