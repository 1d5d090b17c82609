import { createClient } from 'graphql-ws'
import { WebSocket } from 'ws'
import { EventSource } from '../../unit/server/eventSource.ts'
import { within } from './until.ts'

/** What the tests select of an event. */
export interface PhaseEvent {
  kind: string
  cursor: string
  namespace: string | null
  name: string | null
  previousPhase: string | null
  phase: string | null
  reason: string | null
  goneBecause: string | null
}

export const EVENT_FIELDS = 'kind cursor namespace name previousPhase phase reason goneBecause'

/** The changes of one release among the events, as `APPLIED>UNINSTALLING`. */
export const changesOf = (events: readonly PhaseEvent[], name: string): string[] =>
  events
    .filter((event) => event.kind === 'CHANGED' && event.name === name)
    .map(({ previousPhase, phase }) => `${previousPhase}>${phase}`)

/** A stream that is being listened to. */
export class Follower {
  readonly events: PhaseEvent[] = []
  /** The `id:` of each event; only over SSE. */
  readonly ids: (string | undefined)[] = []
  stop: () => void | Promise<void> = () => {}
  #ended: Error | null = null
  readonly #waiting = new Set<() => void>()

  push(event: PhaseEvent, id?: string): void {
    this.events.push(event)
    this.ids.push(id)
    for (const look of this.#waiting) look()
  }

  end(why: unknown): void {
    this.#ended = new Error(
      `the stream has ended: ${why instanceof Error ? why.message : JSON.stringify(why)}`,
    )
    for (const look of this.#waiting) look()
  }

  /** The first event that fits, whether or not it has come already. */
  async until(what: string, fits: (event: PhaseEvent) => boolean): Promise<PhaseEvent> {
    let forget = () => {}
    const found = new Promise<PhaseEvent>((resolve, reject) => {
      const look = () => {
        const event = this.events.find(fits)
        if (event) resolve(event)
        else if (this.#ended) reject(this.#ended)
      }
      this.#waiting.add(look)
      forget = () => this.#waiting.delete(look)
      look()
    })
    try {
      return await within(what, found)
    } catch (error) {
      const seen = this.events.map((event) => JSON.stringify(event)).join('\n')
      throw new Error(`${(error as Error).message}; seen:\n${seen}`)
    } finally {
      forget()
    }
  }

  /** Waits until a release is in a phase. */
  reaches(name: string, phase: string): Promise<PhaseEvent> {
    return this.until(
      `${name} ${phase}`,
      (event) => event.kind === 'CHANGED' && event.name === name && event.phase === phase,
    )
  }

  /** Waits for the end of the snapshot: from there on nothing is missed. */
  async synced(): Promise<this> {
    await this.until('the end of the snapshot', ({ kind }) => kind === 'SNAPSHOT_COMPLETE')
    return this
  }
}

/** `deploymentPhaseChanged` over graphql-ws, as its own client does it; never tries again. */
export function followSocket(url: string, args = '(snapshot: true)'): Follower {
  const follower = new Follower()
  const client = createClient({
    url: url.replace('http', 'ws'),
    webSocketImpl: WebSocket,
    retryAttempts: 0,
    // An error of the socket is told to the operation as well.
    onNonLazyError: () => {},
  })
  client.subscribe<{ deploymentPhaseChanged: PhaseEvent }>(
    { query: `subscription { deploymentPhaseChanged${args} { ${EVENT_FIELDS} } }` },
    {
      next: ({ data, errors }) => {
        if (data) follower.push(data.deploymentPhaseChanged)
        else follower.end(errors)
      },
      error: (error) =>
        follower.end(
          error instanceof Error ? error : { code: (error as { code?: unknown }).code, error: String(error) },
        ),
      complete: () => follower.end('complete'),
    },
  )
  follower.stop = () => client.dispose()
  return follower
}

/** The same over server-sent events. */
export async function followEvents(
  url: string,
  args = '(snapshot: true)',
  headers: Record<string, string> = {},
): Promise<Follower> {
  const follower = new Follower()
  const query = `subscription { deploymentPhaseChanged${args} { ${EVENT_FIELDS} } }`
  const source = await EventSource.open(url, query, headers)
  const read = async () => {
    for (;;) {
      const message = await source.message()
      if (message?.event !== 'next') return follower.end(message?.event ?? 'closed')
      const { data, errors } = JSON.parse(message.data ?? '')
      if (!data) return follower.end(errors)
      follower.push(data.deploymentPhaseChanged, message.id)
    }
  }
  read().catch((error: unknown) => follower.end(error))
  follower.stop = () => source.close()
  return follower
}
