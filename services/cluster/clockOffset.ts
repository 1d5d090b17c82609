/**
 * How far the API server's clock is ahead of ours, learnt from the `Date` headers of its answers.
 *
 * A header says "between D and D + 1 s", at some moment between our sending and our receiving: that is an
 * interval in which the offset lies. Successive intervals are intersected. As long as "no offset" is inside,
 * or misses it by less than half a second (a server may send a second-old cached date), the offset is 0, so
 * that with equal clocks nothing is ever corrected.
 */
export class ClockOffset {
  #low = Number.NEGATIVE_INFINITY
  #high = Number.POSITIVE_INFINITY

  /** Milliseconds to add to our clock. */
  get ms(): number {
    return this.#low > TOLERANCE_MS || this.#high < -TOLERANCE_MS ? (this.#low + this.#high) / 2 : 0
  }

  /**
   * @param date value of the `Date` header
   * @param sentAt our clock when the request was sent, ms
   * @param receivedAt our clock when the headers had arrived, ms
   */
  observe(date: string | undefined, sentAt: number, receivedAt: number): void {
    const server = Date.parse(date ?? '')
    if (Number.isNaN(server)) return
    const low = server - receivedAt
    const high = server + RESOLUTION_MS - sentAt
    const disjoint = low > this.#high || high < this.#low
    // A clock was set, or has drifted: what was known before is worth nothing.
    this.#low = disjoint ? low : Math.max(low, this.#low)
    this.#high = disjoint ? high : Math.min(high, this.#high)
  }
}

const RESOLUTION_MS = 1000
const TOLERANCE_MS = 500
