/** `next()` calls of a stream that had nothing ready; each settles with the event that came after all. */
export const pending = new Map<object, Promise<void>>()

/** What the stream has ready now, in brief, without waiting for more; END when it has completed. */
export async function readyNow<Event>(
  stream: AsyncIterator<Event>,
  brief: (event: Event) => string,
): Promise<string[]> {
  const found: string[] = []
  for (;;) {
    let result: IteratorResult<Event> | null = null
    const next = stream.next().then((value) => {
      result = value
    })
    // A stream that has an event settles within this turn.
    await new Promise((resolve) => setImmediate(resolve))
    if (!result) {
      pending.set(stream, next)
      return found
    }
    const { done, value } = result as IteratorResult<Event>
    if (done) return [...found, 'END']
    found.push(brief(value))
  }
}
