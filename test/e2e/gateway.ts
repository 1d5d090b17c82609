// The gateway as its users have it: a process of its own, reached over HTTP and WebSocket.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createClient } from 'graphql-ws'
import { WebSocket } from 'ws'
import type { ControlPlane } from './controlPlane.ts'
import { type Managed, type Processes, tail } from './processes.ts'
import { Fatal, until } from './wait.ts'

type Answer<T> = { data?: T | null; errors?: { message: string }[] }

const MAIN = join(import.meta.dirname, '../../dist/server/main.js')

export class Gateway {
  readonly #process: Managed
  readonly #url: string

  private constructor(process: Managed, url: string) {
    this.#process = process
    this.#url = url
  }

  /** `serve` on the cluster's kubeconfig with the real helm; resolves when its caches are synced. */
  static async start(
    processes: Processes,
    cluster: ControlPlane,
    helm: string,
    name = 'gateway',
  ): Promise<Gateway> {
    if (!existsSync(MAIN)) throw new Error('dist/server/main.js is not there: run `npm run build` first')
    const gateway = processes.start(name, process.execPath, [
      '--enable-source-maps',
      MAIN,
      'serve',
      ...['--kubeconfig', cluster.kubeconfig],
      ...['--port', '0'],
      ...['--helm-bin', helm],
      ...['--audit-db', join(processes.dir, `${name}.db`)],
    ])
    const running = (): void => {
      if (gateway.ended() !== null) throw new Fatal(`the gateway has ended (${gateway.ended()})`)
    }
    const url = await until('the gateway says where it listens', 30_000, () => {
      running()
      return /http:\/\/127\.0\.0\.1:\d+\/graphql/.exec(tail(gateway.log, 1000))?.[0]
    })
    await until('the gateway is ready', 30_000, async () => {
      running()
      const response = await fetch(new URL('/readyz', url))
      if (response.status !== 200) throw new Error(`/readyz: ${response.status} ${await response.text()}`)
      return true
    })
    return new Gateway(gateway, url)
  }

  /** One operation by POST. GraphQL errors are exceptions: the stories expect none. */
  async ask<T>(query: string, variables: Record<string, unknown> = {}): Promise<T> {
    const response = await fetch(this.#url, {
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
      url: this.#url.replace('http:', 'ws:'),
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
    return this.#process.end(withinMs)
  }
}
