import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../runtime/clock.ts'
import { classifyStatusObject, KubeError } from './errors.ts'
import type { KubeObject } from './kinds.ts'
import { LineSplitter } from './lines.ts'
import { asKubeError, type OpenAnswer } from './transport.ts'

/** One event of a watch. ERROR events end the stream and are not handed on. */
export interface WatchEvent {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'
  object: KubeObject
}

/**
 * Why a watch is over.
 *
 * - `closed`: the API server ended it, as it does after `timeoutSeconds`
 * - `silent`: nothing came for the inactivity limit; the connection may be dead
 * - `stopped`: the caller's signal
 * - `failed`: an ERROR event (410 among them), a broken connection, a line without end
 */
export type WatchEnd = { how: 'closed' | 'silent' | 'stopped' } | { how: 'failed'; error: KubeError }

export interface WatchHandlers {
  onEvent(event: WatchEvent): void
  /** A line that is no event; `what` names its kind without its content. */
  onOddLine?(what: string): void
}

/** A flood of events must not keep everything else from running. */
const LINES_PER_TURN = 500

/**
 * Reads a watch to its end. Resolves once; never rejects. After it has resolved no handler is called.
 *
 * @param idleLimitMs the stream is cut after so long without a byte
 */
export async function readWatch(
  answer: OpenAnswer,
  handlers: WatchHandlers,
  options: { clock: Clock; idleLimitMs: number; signal?: AbortSignal | undefined },
): Promise<WatchEnd> {
  const { clock, idleLimitMs, signal } = options
  let lastByteAt = clock.now()
  let silent = false
  let sinceTurn = 0
  // Re-armed when it fires, not at each chunk: a flood must not pay for a timer per chunk.
  let stopTimer = (): void => {}
  const arm = (ms: number): void => {
    stopTimer = clock.setTimer(ms, () => {
      const left = lastByteAt + idleLimitMs - clock.now()
      if (left > 0) return arm(left)
      silent = true
      answer.abort(new KubeError('Unavailable', 'the watch is silent'))
    })
  }
  arm(idleLimitMs)
  const lines = new LineSplitter()
  try {
    for await (const chunk of answer.body) {
      lastByteAt = clock.now()
      const complete = lines.push(chunk as Buffer)
      for (const line of complete) {
        // What is still in the buffer after an end must not be applied.
        if (silent || signal?.aborted) break
        const error = handleLine(line, handlers)
        if (error) return { how: 'failed', error }
      }
      // Chunks that wait in the buffer are read without a turn of the event loop in between.
      sinceTurn += complete.length
      if (sinceTurn < LINES_PER_TURN) continue
      sinceTurn = 0
      await nextTurn()
    }
    if (lines.rest() !== '') handlers.onOddLine?.('a line that was cut off')
    return { how: signal?.aborted ? 'stopped' : 'closed' }
  } catch (error) {
    if (signal?.aborted) return { how: 'stopped' }
    return silent ? { how: 'silent' } : { how: 'failed', error: asKubeError(error) }
  } finally {
    // However the loop was left, it has closed the body, and with it the connection.
    stopTimer()
    answer.done()
  }
}

/** @returns the error of an ERROR event */
function handleLine(line: string, handlers: WatchHandlers): KubeError | null {
  let event: { type?: unknown; object?: unknown } | null
  try {
    event = JSON.parse(line) as typeof event
  } catch {
    handlers.onOddLine?.('a line that is not JSON')
    return null
  }
  const type = event?.type
  if (type === 'ERROR') return classifyStatusObject(event?.object)
  if (type !== 'ADDED' && type !== 'MODIFIED' && type !== 'DELETED' && type !== 'BOOKMARK') {
    handlers.onOddLine?.('an event of an unknown type')
    return null
  }
  const object = event?.object
  if (!isObject(object, type)) {
    handlers.onOddLine?.(`${type} without an object`)
    return null
  }
  handlers.onEvent({ type, object })
  return null
}

/** A bookmark has nothing but a version; all else has a name. */
function isObject(value: unknown, type: WatchEvent['type']): value is KubeObject {
  if (typeof value !== 'object' || value === null) return false
  const { metadata } = value as { metadata?: { name?: unknown } | null }
  if (typeof metadata !== 'object' || metadata === null) return false
  return type === 'BOOKMARK' || typeof metadata.name === 'string'
}
