import { randomBytes } from 'node:crypto'

/**
 * Makes ids of runs: UUIDs of version 7 (RFC 9562), so that ids made by one process sort in the order in which
 * they were made, also within a millisecond.
 *
 * @param now milliseconds since the epoch
 */
export function runIds(now: () => number): () => string {
  let last = -1
  let count = 0
  return () => {
    const ms = now()
    count = ms === last ? count + 1 : 0
    last = ms
    const bytes = randomBytes(16)
    bytes.writeUIntBE(ms, 0, 6)
    bytes.writeUInt16BE(0x7000 | (count & 0x0fff), 6)
    bytes.writeUInt8(0x80 | (bytes.readUInt8(8) & 0x3f), 8)
    const hex = bytes.toString('hex')
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
  }
}
