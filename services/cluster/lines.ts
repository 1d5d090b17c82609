/**
 * Cuts a byte stream into lines. It works on bytes, so a character that is split over two chunks is put
 * together before it is decoded.
 */
export class LineSplitter {
  #parts: Buffer[] = []
  #size = 0
  readonly #limit: number

  /** @param limit longest line in bytes; an object of etcd's is 1.5 MiB */
  constructor(limit = 64 * 1024 * 1024) {
    this.#limit = limit
  }

  /**
   * The lines that `chunk` completes, without their line ends, empty ones left out.
   *
   * @throws RangeError when a line gets longer than the limit
   */
  push(chunk: Buffer): string[] {
    const lines: string[] = []
    let from = 0
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      const line = this.#take(chunk.subarray(from, at))
      if (line !== '') lines.push(line)
      from = at + 1
    }
    if (from < chunk.length) this.#keep(chunk.subarray(from))
    return lines
  }

  /** What is left when the stream ends: a last line without a line end, or one that was cut off. */
  rest(): string {
    return this.#take(Buffer.alloc(0))
  }

  #keep(part: Buffer): void {
    this.#size += part.length
    if (this.#size > this.#limit)
      throw new RangeError(`a line of the stream is longer than ${this.#limit} bytes`)
    // A copy: a few bytes must not keep the whole chunk they are a view of.
    this.#parts.push(Buffer.from(part))
  }

  #take(end: Buffer): string {
    const bytes = this.#parts.length === 0 ? end : Buffer.concat([...this.#parts, end])
    this.#parts = []
    this.#size = 0
    return bytes.toString('utf8').trim()
  }
}
