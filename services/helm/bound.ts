/**
 * Bounds a text that somebody else wrote (an error, the output of a command), since it ends up in a
 * ConfigMap of at most 1 MiB and in answers. Keeps its beginning and, as a command says last why it failed,
 * more of its end; what is left out between is said.
 *
 * @param limit in bytes of UTF-8, of the result as a whole; at least 64
 */
export function boundText(text: string, limit: number): string {
  const bytes = Buffer.byteLength(text)
  if (bytes <= limit) return text
  const buffer = Buffer.from(text)
  const room = limit - 40
  const head = Math.floor(room / 4)
  const tail = room - head
  const gap = `\n… ${bytes - room} bytes left out …\n`
  return decode(buffer.subarray(0, head), 'end') + gap + decode(buffer.subarray(bytes - tail), 'start')
}

/** Decodes a piece of UTF-8 that may have been cut within a character, and drops that character. */
function decode(piece: Buffer, cutAt: 'start' | 'end'): string {
  let from = 0
  let to = piece.length
  if (cutAt === 'start') {
    while (from < to && isContinuation(piece[from])) from++
  } else {
    let back = to
    while (back > 0 && isContinuation(piece[back - 1])) back--
    const lead = piece[back - 1] ?? 0
    const wanted = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc0 ? 1 : 0
    if (to - back < wanted) to = back - 1
  }
  return piece.subarray(from, to).toString('utf8')
}

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80
