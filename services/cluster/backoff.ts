const BASE_MS = 1_000
const CAP_MS = 60_000
// A proxy that asks for a day is not taken at its word.
const RETRY_AFTER_CAP_SECONDS = 300

/**
 * How long to wait before try number `attempt` (from 1) after the first: full jitter, that is anything
 * between 0 and 1 s, 2 s, 4 s … 60 s. With a Retry-After never less than that, and up to a fifth more, so
 * that those who were turned away together do not come back together.
 *
 * @param random from 0 to 1
 * @returns milliseconds
 */
export function backoffMs(attempt: number, retryAfterSeconds: number | null, random: () => number): number {
  const jittered = random() * Math.min(CAP_MS, BASE_MS * 2 ** Math.max(0, Math.min(attempt - 1, 16)))
  if (retryAfterSeconds === null) return jittered
  const asked = Math.min(retryAfterSeconds, RETRY_AFTER_CAP_SECONDS) * 1000
  return Math.max(jittered, asked * (1 + 0.2 * random()))
}
