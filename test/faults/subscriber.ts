/**
 * A subscriber that lives as long as the schedule: it comes back with its cursor when its gateway does, and
 * folds what it is told into the list that it believes in.
 */
import { decodeCursor } from '../../subscriptions/cursor.ts'
import type { Json } from '../cases/json.ts'
import { GraphqlSocket } from '../cases/socket.ts'
import type { Life } from './lives.ts'

const DOCUMENT = `subscription ($since: Cursor, $snapshot: Boolean!) {
  deploymentPhaseChanged(since: $since, snapshot: $snapshot) {
    kind cursor namespace name uid backend previousPhase phase cause goneBecause
  }
}`

export interface PhaseMessage {
  kind: 'SNAPSHOT' | 'SNAPSHOT_COMPLETE' | 'CHANGED' | 'REMOVED' | 'RESYNC' | 'BOOKMARK'
  cursor: string
  namespace: string | null
  name: string | null
  uid: string | null
  backend: 'HELM' | 'LLMSERVICE' | null
  previousPhase: string | null
  phase: string | null
  cause: string | null
  goneBecause: string | null
}

export interface FoldedRow {
  uid: string | null
  phase: string | null
  backend: string | null
}

export interface SubscriberOptions {
  name: string
  /** A property is broken. */
  violate: (property: string, message: string) => void
  /** Each change of a phase, as it arrives. */
  onChange: (message: PhaseMessage) => void
}

export class Subscriber {
  /** Steps for which it does not come back. */
  away = 0
  readonly rows = new Map<string, FoldedRow>()
  /** What was told since the schedule began, for whoever has to understand a failure. */
  readonly told: string[] = []
  readonly #options: SubscriberOptions
  readonly #gone = new Set<string>()
  #snapshot: Map<string, FoldedRow> | null = null
  #socket: GraphqlSocket | null = null
  #token = ''
  #cursor: string | null = null

  constructor(options: SubscriberOptions) {
    this.#options = options
  }

  /** Whether it listens to this life of the gateway. */
  listensTo(life: Life): boolean {
    return this.#token === life.token && this.#socket !== null && this.#socket.closed === undefined
  }

  /** Comes (back) to a gateway; nothing happens when it is there already or the gateway is not ready. */
  async connect(life: Life): Promise<void> {
    if (this.listensTo(life) || !life.gateway.ready) return
    this.disconnect()
    this.#snapshot = null
    let socket: GraphqlSocket
    try {
      socket = await GraphqlSocket.open(life.gateway.url, { user: 'watcher', groups: [] })
    } catch {
      // It died meanwhile.
      return
    }
    this.#socket = socket
    this.#token = life.token
    const variables = { since: this.#cursor, snapshot: this.#cursor === null }
    socket.subscribe(
      { query: DOCUMENT, variables },
      {
        next: ({ data, errors }) => {
          if (this.#socket !== socket) return
          if (errors) this.#options.violate('stream', `errors: ${JSON.stringify(errors)}`)
          if (data == null) return
          const { deploymentPhaseChanged } = data as { [key: string]: Json }
          this.#take(deploymentPhaseChanged as unknown as PhaseMessage)
        },
        end: (refusal) => {
          if (this.#socket !== socket) return
          if (refusal !== undefined) this.#options.violate('stream', `refused: ${JSON.stringify(refusal)}`)
          else if (socket.closed === undefined) this.#options.violate('stream', 'it has ended by itself')
        },
      },
    )
  }

  /** Leaves, and stays away for so many steps. */
  leave(steps: number): void {
    this.disconnect()
    this.away = steps
  }

  disconnect(): void {
    this.#socket?.terminate()
    this.#socket = null
    this.#token = ''
  }

  /** Resolves when all that was sent has arrived. */
  async drain(): Promise<void> {
    await this.#socket?.drain()
  }

  #take(message: PhaseMessage): void {
    const key = `${message.namespace}/${message.name}`
    if (message.kind !== 'BOOKMARK') {
      const { kind, uid, previousPhase, phase, goneBecause } = message
      this.told.push(`${kind} ${key} ${uid} ${previousPhase}→${phase} ${goneBecause ?? ''}`)
    }
    this.#moveTo(message)
    switch (message.kind) {
      case 'RESYNC':
        this.#snapshot = new Map()
        return
      case 'SNAPSHOT':
        this.#snapshot ??= new Map()
        this.#notGone(message, key)
        this.#snapshot.set(key, rowOf(message))
        return
      case 'SNAPSHOT_COMPLETE':
        this.rows.clear()
        for (const [name, row] of this.#snapshot ?? []) this.rows.set(name, row)
        this.#snapshot = null
        return
      case 'BOOKMARK':
        return
      default:
        this.#change(message, key)
    }
  }

  #change(message: PhaseMessage, key: string): void {
    const before = this.rows.get(key)?.phase ?? null
    if (before !== message.previousPhase) {
      const said = `${message.previousPhase} → ${message.phase}`
      this.#options.violate('no silent gap', `${key}: ${said}, but the last that was told is ${before}`)
    }
    this.#options.onChange(message)
    if (message.kind === 'REMOVED' || message.phase === 'GONE') {
      if (message.phase === 'GONE' && message.uid !== null) this.#gone.add(message.uid)
      this.rows.delete(key)
      return
    }
    this.#notGone(message, key)
    this.rows.set(key, rowOf(message))
  }

  #notGone({ uid, phase }: PhaseMessage, key: string): void {
    if (uid === null || !this.#gone.has(uid)) return
    this.#options.violate('no resurrection', `${key}: ${uid} is ${phase} after its GONE`)
  }

  /** Positions of one feed only go up. */
  #moveTo({ cursor, kind }: PhaseMessage): void {
    const now = decodeCursor(cursor)
    const before = this.#cursor === null ? null : decodeCursor(this.#cursor)
    if (!now) this.#options.violate('stream', `${cursor} is no cursor`)
    else if (kind === 'CHANGED' && before?.epoch === now.epoch && now.position <= before.position) {
      this.#options.violate('no silent gap', `position ${now.position} after ${before.position}`)
    }
    this.#cursor = cursor
  }
}

const rowOf = ({ uid, phase, backend }: PhaseMessage): FoldedRow => ({ uid, phase, backend })
