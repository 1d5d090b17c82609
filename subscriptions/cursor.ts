/** A position in the feed of one gateway process. */
export interface FeedPosition {
  /** Random id of that process; positions of two processes have nothing to do with each other. */
  epoch: string
  position: number
}

/**
 * The position of a snapshot that is still being sent. It lies before every change, so whoever comes back
 * with it is given a new snapshot: the rest of the old one would otherwise be lost without a word.
 */
export const INCOMPLETE = -1

const TEXT = /^([A-Za-z0-9]{1,64})\.(-1|\d{1,15})$/
const LONGEST = 120

/** The opaque text of a position: base64url of `epoch.position`. */
export function encodeCursor({ epoch, position }: FeedPosition): string {
  return Buffer.from(`${epoch}.${position}`).toString('base64url')
}

/** The position a cursor stands for, or null for a text that no gateway has ever given out. */
export function decodeCursor(cursor: string): FeedPosition | null {
  if (cursor.length > LONGEST) return null
  const parts = TEXT.exec(Buffer.from(cursor, 'base64url').toString('latin1'))
  if (!parts) return null
  const [, epoch = '', digits = ''] = parts
  const found = { epoch, position: Number(digits) }
  // Buffer skips what is not base64url; only the exact text counts.
  return encodeCursor(found) === cursor ? found : null
}
