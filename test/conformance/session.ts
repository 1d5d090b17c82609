import type { IncomingHttpHeaders } from 'node:http'
import { type Connection, textOf } from './connection.ts'
import type { Json } from './json.ts'
import { normalise } from './normalise.ts'
import { Watching } from './watching.ts'

/** What the suite may do to a cluster besides asking its API server. */
export interface Hooks {
  /** Makes the API server forget all versions before the present one. */
  compact?: () => Promise<void>
  /** Whether the controllers of a cluster run beside the API server: namespaces, garbage. */
  controllers?: boolean
}

export interface Options {
  /** An object is sent as JSON, a text as it is. */
  body?: unknown
  type?: string
  accept?: string
  headers?: Record<string, string>
  /** Replaces the credentials: the value of an `Authorization` header, or null for none. */
  authorization?: string | null
  /** What of the answer matters; the whole body when absent. */
  show?: (body: Json) => unknown
  /** The text of a failure is not compared: it is that of a Go library and differs between its versions. */
  anyMessage?: boolean
  /** Headers of the answer that matter beside the content type, in lower case. */
  showHeaders?: string[]
}

export interface Answer {
  status: number
  /** Parsed when it is JSON, else undefined. */
  body: Json
}

/** One step of a probe as it happened, before what changes from run to run is replaced. */
export interface Step {
  /** When it was answered, milliseconds since the epoch. */
  at: number
  seen: Record<string, unknown>
}

export const mergePatch = 'application/merge-patch+json'
export const jsonPatch = 'application/json-patch+json'
export const strategicPatch = 'application/strategic-merge-patch+json'
export const partial = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io'
export const partialList = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io'
export const asTable = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json'

/** How long a probe waits for something that comes by itself. */
const PATIENCE_MS = 30_000

/** What a probe acts through. Everything asked through `call` and read from `watch` becomes part of its answer. */
export class Session {
  /** A namespace that is the probe's own. */
  readonly namespace: string
  /** A text that is the run's and the probe's own, for the names of cluster-scoped things. */
  readonly unique: string
  readonly hooks: Hooks
  readonly #connection: Connection
  readonly #steps: Step[] = []
  readonly #sent: string[] = []
  readonly #watches: Watching[] = []
  readonly #created: string[] = []

  constructor(connection: Connection, unique: string, hooks: Hooks) {
    this.#connection = connection
    this.unique = unique
    this.namespace = `conformance-${unique}`
    this.hooks = hooks
  }

  /** `/api/v1/namespaces/<own>/<rest>`, or in another group. */
  path(rest: string, group = 'v1'): string {
    const root = group.includes('/') ? `/apis/${group}` : `/api/${group}`
    return `${root}/namespaces/${this.namespace}/${rest}`
  }

  /** Asks, and records the answer. */
  async call(method: string, path: string, options: Options = {}): Promise<Answer> {
    const { status, headers, text } = await this.#connection.ask(this.#request(method, path, options))
    const type = headers['content-type'] ?? ''
    const body: Json = type.startsWith('application/json') && text !== '' ? JSON.parse(text) : undefined
    const step: Step['seen'] = { ask: `${method} ${path}`, status, type }
    for (const name of options.showHeaders ?? []) step[name] = headers[name] ?? null
    const failed = body?.kind === 'Status' && body.status === 'Failure'
    const shown = body === undefined ? text : options.show && !failed ? options.show(body) : body
    step.answer = options.anyMessage === true && failed ? withoutText(body) : shown
    this.#saw(step)
    return { status, body }
  }

  /** Asks for something that must succeed and is not what the probe is about: nothing is recorded. */
  async prepare(method: string, path: string, body?: unknown, options: Options = {}): Promise<Json> {
    const request = this.#request(method, path, { ...options, body })
    const { status, text } = await this.#connection.ask(request)
    if (status > 299) throw new Error(`${method} ${path}: ${status} ${text}`)
    return JSON.parse(text) as Json
  }

  /** Asks until the answer is as wanted; nothing is recorded. */
  async until(what: string, path: string, holds: (answer: Answer) => boolean): Promise<Json> {
    const end = performance.now() + PATIENCE_MS
    for (;;) {
      const { status, text } = await this.#connection.ask(this.#request('GET', path, {}))
      const body = text.startsWith('{') ? (JSON.parse(text) as Json) : undefined
      if (holds({ status, body })) return body
      if (performance.now() > end) throw new Error(`${what}: not within ${PATIENCE_MS / 1000} s; ${text}`)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  /** The headers of an answer to GET; nothing is recorded. */
  async head(path: string): Promise<{ headers: IncomingHttpHeaders }> {
    const { headers } = await this.#connection.ask(this.#request('GET', path, {}))
    return { headers }
  }

  /** The bearer token of the kubeconfig; empty where it has none. */
  get token(): string {
    return (this.#connection.credentials.authorization ?? '').replace(/^Bearer /, '')
  }

  /** Opens a watch and records how it was answered; `event` and `end` read from it. */
  async watch(path: string, options: Options = {}): Promise<Watch> {
    const response = await this.#connection.open(this.#request('GET', path, options))
    const status = response.statusCode ?? 0
    const type = response.headers['content-type'] ?? ''
    const step: Step['seen'] = { ask: `GET ${path}`, status, type }
    this.#saw(step)
    if (status !== 200) {
      const text = await textOf(response)
      step.answer = text.startsWith('{') ? (JSON.parse(text) as Json) : text
    }
    const watching = new Watching(response)
    this.#watches.push(watching)
    const read = async (): Promise<Json> => {
      let event = status === 200 ? await watching.next(PATIENCE_MS) : null
      // Bookmarks in between come when the server likes.
      while (event?.type === 'BOOKMARK' && !marksInitialEvents(event))
        event = await watching.next(PATIENCE_MS)
      const end = { stream: 'ends' }
      this.#saw(event === null ? end : { event: options.show ? shownEvent(event, options.show) : event })
      return event
    }
    return {
      status,
      events: async (count) => {
        const events: Json[] = []
        while (events.length < count) events.push(await read())
        return events
      },
      end: async () => {
        while ((await read()) !== null);
      },
    }
  }

  /** Records something that the probe has found out itself. */
  note(what: string, value: unknown): void {
    this.#saw({ note: what, value })
  }

  /** Something cluster-scoped to be deleted at the end. */
  owns(path: string): void {
    this.#created.push(path)
  }

  /** The answer of the whole probe, with stable words in the place of what changes from run to run. */
  recorded(): unknown[] {
    return normalise(this.#steps, this.#sent, { namespace: this.namespace, unique: this.unique })
  }

  /** Closes the watches and deletes what the probe owned; failures are nobody's concern. */
  async close(): Promise<void> {
    for (const watching of this.#watches) watching.close()
    for (const path of [...this.#created, `/api/v1/namespaces/${this.namespace}`]) {
      await this.#connection.ask(this.#request('DELETE', path, {})).catch(() => {})
    }
  }

  #saw(seen: Step['seen']): void {
    this.#steps.push({ at: Date.now(), seen })
  }

  #request(method: string, path: string, options: Options) {
    const { body, type, accept, headers, authorization } = options
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
    if (text !== undefined && text.length < 100_000) this.#sent.push(text)
    const credentials =
      authorization === undefined
        ? this.#connection.credentials
        : authorization === null
          ? {}
          : { authorization }
    return {
      method,
      path,
      headers: {
        ...credentials,
        ...(text === undefined ? {} : { 'content-type': type ?? 'application/json' }),
        ...(accept === undefined ? {} : { accept }),
        ...headers,
      },
      ...(text === undefined ? {} : { body: text }),
    }
  }
}

export interface Watch {
  status: number
  /** Reads and records so many events. */
  events(count: number): Promise<Json[]>
  /** Reads and records until the stream ends. */
  end(): Promise<void>
}

function marksInitialEvents({ object }: Json): boolean {
  return object.metadata?.annotations?.['k8s.io/initial-events-end'] === 'true'
}

function shownEvent(event: Json, show: (body: Json) => unknown): Json {
  return event.type === 'ERROR' ? event : { ...event, object: show(event.object) }
}

function withoutText(body: Json): Json {
  const { message: _message, ...rest } = body
  const { causes, ...details } = rest.details ?? {}
  if (causes === undefined) return rest
  const bare = causes.map(({ message: _text, ...cause }: Json) => cause)
  return { ...rest, details: { ...details, causes: bare } }
}
