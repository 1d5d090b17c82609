import { createSourceEventStream, type ExecutionArgs, type ExecutionResult, execute } from 'graphql'
import type { Logger } from '../services/runtime/logger.ts'
import type { ResultStream } from './operation.ts'

/**
 * Marks a result with the cursor of the event it shows, whether the client has selected `cursor` or not:
 * SSE sends it as `id:`. A symbol, so that it survives a spread and never appears in JSON.
 */
const CURSOR = Symbol('cursor')

/** The cursor of the event that this result shows, or null if its source has none. */
export function cursorOf(result: ExecutionResult): string | null {
  return (result as { [CURSOR]?: string })[CURSOR] ?? null
}

/**
 * The subscribe step of the pipeline: the field's source, and one execution per event of it.
 *
 * Not graphql-js's own, for two reasons: `return()` must end the stream at once even while the source is
 * stuck in its `next()` (an async generator would queue it behind), and the cursor must reach the transport.
 */
export function makeSubscribe(logger: Logger) {
  return async (args: ExecutionArgs): Promise<ExecutionResult | ResultStream> => {
    const source = await createSourceEventStream(args)
    if (!(Symbol.asyncIterator in source)) return source
    return new ExecutedStream(source[Symbol.asyncIterator](), args, logger)
  }
}

const DONE = { done: true, value: undefined } as const

class ExecutedStream implements ResultStream {
  readonly #source: AsyncIterator<unknown>
  readonly #args: ExecutionArgs
  readonly #logger: Logger
  readonly #pending = new Set<(result: IteratorResult<ExecutionResult>) => void>()
  #ended = false

  constructor(source: AsyncIterator<unknown>, args: ExecutionArgs, logger: Logger) {
    this.#source = source
    this.#args = args
    this.#logger = logger
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<ExecutionResult>> {
    if (this.#ended) return Promise.resolve(DONE)
    return new Promise((resolve, reject) => {
      this.#pending.add(resolve)
      const settle = (then: () => void) => {
        // Absent once return() has answered; what comes later is nobody's any more.
        if (this.#pending.delete(resolve)) then()
      }
      this.#step().then(
        (result) => settle(() => resolve(result)),
        (error: unknown) => {
          this.#end()
          settle(() => reject(error))
        },
      )
    })
  }

  return(): Promise<IteratorResult<ExecutionResult>> {
    this.#end()
    for (const resolve of this.#pending) resolve(DONE)
    this.#pending.clear()
    return Promise.resolve(DONE)
  }

  throw(error: unknown): Promise<IteratorResult<ExecutionResult>> {
    return this.return().then(() => Promise.reject(error))
  }

  async #step(): Promise<IteratorResult<ExecutionResult>> {
    const step = await this.#source.next()
    if (this.#ended) return DONE
    if (step.done) {
      this.#ended = true
      return DONE
    }
    const event = step.value
    const result = await execute({ ...this.#args, rootValue: event })
    const cursor = typeof event === 'object' && event !== null && 'cursor' in event ? event.cursor : null
    const value: ExecutionResult =
      typeof cursor === 'string' ? Object.assign(result, { [CURSOR]: cursor }) : result
    return { done: false, value }
  }

  /** Stops the source without waiting for it: it may be stuck. */
  #end(): void {
    if (this.#ended) return
    this.#ended = true
    const failed = (error: unknown) =>
      this.#logger.warn({ err: error }, 'the source of a subscription failed to stop')
    try {
      this.#source.return?.().then(undefined, failed)
    } catch (error) {
      failed(error)
    }
  }
}
