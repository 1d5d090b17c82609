import { afterEach } from 'vitest'
import { startApiServer } from '../../../sandbox/api/server.ts'
import type { ApiServer, ApiServerOptions, KubeObject } from '../../../sandbox/api/types.ts'
import { FakeClock } from '../support/fakeClock.ts'

const cleanups: (() => Promise<void> | void)[] = []

afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean()
})

/** An answer, its JSON parsed where it is JSON. */
export interface Answer {
  status: number
  headers: Headers
  text: string
  // Tests look into answers of any form.
  // biome-ignore lint/suspicious/noExplicitAny: the shape is what is being tested
  body: any
}

export interface WatchedEvent {
  type: string
  // biome-ignore lint/suspicious/noExplicitAny: the shape is what is being tested
  object: any
}

/** A watch that has begun, read line by line. */
export interface Watching {
  status: number
  contentType: string
  /** The next event. Rejects when the stream ends or is cut instead. */
  next(): Promise<WatchedEvent>
  /** How the stream ends, after the events that are still to be read have been read. */
  end(): Promise<'ended' | 'cut'>
  close(): void
}

export interface Harness {
  server: ApiServer
  clock: FakeClock
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  watch(path: string, headers?: Record<string, string>): Promise<Watching>
  /** Lets the clock run, and what has been set off with it. */
  advance(seconds: number): Promise<void>
}

export const start = '2031-01-01T00:00:00Z'
export const mergePatch = { 'content-type': 'application/merge-patch+json' }
export const jsonPatch = { 'content-type': 'application/json-patch+json' }
export const partial = { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' }
export const partialList = { accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1' }
export const asTable = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' }

export const team = '/api/v1/namespaces/team-a'
export const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
export const services = '/apis/serving.modelsphere.dev/v1alpha1/namespaces/team-a/llmservices'
export const leases = '/apis/coordination.k8s.io/v1/namespaces/team-a/leases'

/** A server of its own with a clock that only the test moves, and the namespace `team-a`. Stopped after the test. */
export async function harness(options: Partial<ApiServerOptions> = {}): Promise<Harness> {
  const clock = new FakeClock(start)
  const tokens = { secret: { user: 'tester', groups: ['testers'] } }
  const server = await startApiServer({ clock, tokens, ...options })
  cleanups.push(() => server.stop())
  server.store.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team-a' } })
  const authorised = { authorization: 'Bearer secret' }

  async function call(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const init: RequestInit = {
      method,
      headers: {
        ...authorised,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
    }
    if (body !== undefined) init.body = typeof body === 'string' ? body : JSON.stringify(body)
    const response = await fetch(server.url + path, init)
    const text = await response.text()
    const json = response.headers.get('content-type')?.startsWith('application/json') === true
    const parsed = json && text !== '' ? JSON.parse(text) : undefined
    return { status: response.status, headers: response.headers, text, body: parsed }
  }

  async function watch(path: string, headers: Record<string, string> = {}): Promise<Watching> {
    const abort = new AbortController()
    cleanups.push(() => abort.abort())
    const response = await fetch(server.url + path, {
      headers: { ...authorised, ...headers },
      signal: abort.signal,
    })
    const lines = linesOf(response)
    return {
      status: response.status,
      contentType: response.headers.get('content-type') ?? '',
      next: async () => {
        const line = await lines.next()
        if (line.done === true) throw new Error('the stream has ended')
        return JSON.parse(line.value) as WatchedEvent
      },
      end: async () => {
        try {
          const line = await lines.next()
          if (line.done === true) return 'ended'
        } catch {
          return 'cut'
        }
        throw new Error('the stream goes on')
      },
      close: () => abort.abort(),
    }
  }

  return { server, clock, call, watch, advance: (seconds) => clock.advance(seconds * 1000) }
}

async function* linesOf(response: Response): AsyncGenerator<string, void> {
  let rest = ''
  const decoder = new TextDecoder()
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  if (rest !== '') throw new Error(`the stream ended in the middle of a line: ${rest}`)
}

type Metadata = Partial<KubeObject['metadata']>

export function configMap(
  name: string,
  metadata: Metadata = {},
  rest: Record<string, unknown> = {},
): KubeObject {
  const namespace = 'team-a'
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, ...metadata }, ...rest }
}

export function pod(name: string, metadata: Metadata = {}, spec: Record<string, unknown> = {}): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'team-a', ...metadata },
    spec: { nodeName: 'n1', containers: [{ name: 'main', image: 'model:1' }], ...spec },
  }
}

export function llmService(
  name: string,
  metadata: Metadata = {},
  rest: Record<string, unknown> = {},
): KubeObject {
  return {
    apiVersion: 'serving.modelsphere.dev/v1alpha1',
    kind: 'LLMService',
    metadata: { name, namespace: 'team-a', ...metadata },
    spec: { chart: { name: 'vllm' } },
    ...rest,
  }
}

export function lease(name: string, spec: Record<string, unknown>, metadata: Metadata = {}): KubeObject {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name, namespace: 'team-a', ...metadata },
    spec,
  }
}
