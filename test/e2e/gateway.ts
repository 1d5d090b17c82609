// The gateway as its users have it: a process of its own, reached over HTTP and WebSocket.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createClient } from 'graphql-ws'
import { WebSocket } from 'ws'
import { type Managed, tail } from './processes.ts'
import type { StoryContext } from './story.ts'
import { Fatal, until } from './wait.ts'

type Answer<T> = { data?: T | null; errors?: { message: string }[] }

export type GatewayOptions = {
  /** Of its log; one that is started again under a name goes on with the runs of the former. Default `gateway`. */
  name?: string
  /** Default: that of the ServiceAccount `swiss`. */
  kubeconfig?: string
  /** Default: the helm of this telling. */
  helmBin?: string
  /** Default: the story's own, and all in a cluster of its own. */
  namespaces?: string[] | 'all'
  /** Path of a SQLite file or a `postgres://` URL. Default: a file with the gateway's name. */
  audit?: string
  env?: Record<string, string>
  flags?: string[]
  /** False: resolves when it listens, ready or not. */
  waitReady?: boolean
}

const MAIN = join(import.meta.dirname, '../../dist/server/main.js')
let started = 0

export class Gateway {
  readonly process: Managed
  /** Of `/graphql`. */
  readonly url: string

  private constructor(process: Managed, url: string) {
    this.process = process
    this.url = url
  }

  /** `serve` with the real helm; resolves when its caches are synced. */
  static async start(
    context: StoryContext,
    defaultNamespaces: string[] | 'all',
    options: GatewayOptions = {},
  ): Promise<Gateway> {
    if (!existsSync(MAIN)) throw new Error('dist/server/main.js is not there: run `npm run build` first')
    const name = options.name ?? 'gateway'
    const namespaces = options.namespaces ?? defaultNamespaces
    const audit = options.audit ?? join(context.dir, `${name}.db`)
    started += 1
    const process = context.start(
      `${name}-${started}`,
      globalThis.process.execPath,
      [
        '--enable-source-maps',
        MAIN,
        'serve',
        ...['--kubeconfig', options.kubeconfig ?? context.gatewayKubeconfig],
        ...['--gateway-namespace', context.gatewayNamespace],
        ...(namespaces === 'all' ? [] : namespaces.flatMap((n) => ['--namespace', n])),
        ...['--port', '0'],
        ...['--helm-bin', options.helmBin ?? context.helmBin],
        ...(audit.startsWith('postgres') ? ['--audit-url', audit] : ['--audit-db', audit]),
        ...(options.flags ?? []),
      ],
      options.env,
    )
    const running = (): void => {
      if (process.ended() !== null) throw new Fatal(`the gateway has ended (${process.ended()})`)
    }
    const url = await until('the gateway says where it listens', 60_000, () => {
      running()
      return /http:\/\/127\.0\.0\.1:\d+\/graphql/.exec(tail(process.log, 1000))?.[0]
    })
    const gateway = new Gateway(process, url)
    if (options.waitReady ?? true) await gateway.ready(120_000)
    return gateway
  }

  /** Resolves when `/readyz` is 200. */
  async ready(withinMs: number): Promise<void> {
    await until('the gateway is ready', withinMs, async () => {
      if (this.process.ended() !== null) throw new Fatal(`the gateway has ended (${this.process.ended()})`)
      const response = await this.fetch('/readyz')
      if (response.status !== 200) throw new Error(`/readyz: ${response.status} ${await response.text()}`)
      return true
    })
  }

  fetch(path: string): Promise<Response> {
    return fetch(new URL(path, this.url))
  }

  /** One operation by POST. GraphQL errors are exceptions: the stories expect none. */
  async ask<T>(query: string, variables: Record<string, unknown> = {}): Promise<T> {
    const response = await fetch(this.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/graphql-response+json, application/json',
      },
      body: JSON.stringify({ query, variables }),
    })
    const answer = (await response.json()) as Answer<T>
    if (answer.errors !== undefined || answer.data == null) {
      throw new Error(`${response.status} ${JSON.stringify(answer.errors ?? answer)}`)
    }
    return answer.data
  }

  /** A subscription over graphql-ws on a socket of its own. `onError` gets whatever ends it but `stop`. */
  subscribe<T>(
    query: string,
    variables: Record<string, unknown>,
    onData: (data: T) => void,
    onError: (error: unknown) => void,
  ): () => Promise<void> {
    const client = createClient({
      url: this.url.replace('http:', 'ws:'),
      webSocketImpl: WebSocket,
      retryAttempts: 0,
      lazy: true,
      onNonLazyError: onError,
    })
    let stopping = false
    const unsubscribe = client.subscribe<T>(
      { query, variables },
      {
        next: (answer) => {
          if (answer.data != null) onData(answer.data)
          else onError(new Error(JSON.stringify(answer.errors)))
        },
        error: (error) => {
          if (!stopping) onError(error)
        },
        complete: () => {
          if (!stopping) onError(new Error('the gateway has completed the subscription'))
        },
      },
    )
    return async () => {
      stopping = true
      unsubscribe()
      await client.dispose()
    }
  }

  /** SIGTERM; answers how it ended, which is `SIGKILL` when it had not after `withinMs`. */
  stop(withinMs: number): Promise<string> {
    return this.process.end(withinMs)
  }
}
