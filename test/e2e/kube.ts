// The stories' own way to look at the cluster: plain HTTPS to the API server, sharing no code with what is tested.
import type { IncomingMessage } from 'node:http'
import { Agent, request } from 'node:https'

export type Meta = {
  name: string
  namespace?: string
  uid: string
  resourceVersion: string
  labels?: Record<string, string>
  annotations?: Record<string, string>
  deletionTimestamp?: string
}
export type KubeObject = {
  kind?: string
  metadata: Meta
  spec?: Record<string, unknown>
  status?: Record<string, unknown>
}
type List = { metadata: { resourceVersion: string }; items: KubeObject[] | null }
export type WatchEvent = { type: string; object: KubeObject }
type ApiResource = { name: string; namespaced: boolean; kind: string; verbs: string[] }
type ResourceList = { resources: ApiResource[] }
type GroupList = { groups: { preferredVersion: { groupVersion: string } }[] }

export class KubeError extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

export class Kube {
  readonly #agent: Agent
  readonly #server: string
  readonly #token: string

  constructor(server: string, token: string, ca: string) {
    this.#server = server
    this.#token = token
    this.#agent = new Agent({ ca, keepAlive: true })
  }

  get<T = KubeObject>(path: string): Promise<T> {
    return this.#json<T>('GET', path)
  }

  /** The text of an endpoint that speaks no JSON, such as /readyz. */
  async text(path: string): Promise<string> {
    return text(await this.#open('GET', path))
  }

  create(path: string, body: object): Promise<KubeObject> {
    return this.#json<KubeObject>('POST', path, body)
  }

  /** JSON merge patch. `path` may end in `/status`. */
  patch(path: string, body: object): Promise<KubeObject> {
    return this.#json<KubeObject>('PATCH', path, body, 'application/merge-patch+json')
  }

  /** Graceful; one that is not there is no error. The API server's own propagation orphans the pods of a Job. */
  async delete(path: string, options: object = {}): Promise<void> {
    try {
      await this.#json('DELETE', path, options)
    } catch (error) {
      if (!(error instanceof KubeError && error.status === 404)) throw error
    }
  }

  /** Undefined for 404, whatever is not there: the object, or its kind. */
  async find<T = KubeObject>(path: string): Promise<T | undefined> {
    try {
      return await this.get<T>(path)
    } catch (error) {
      if (error instanceof KubeError && error.status === 404) return undefined
      throw error
    }
  }

  async list(path: string, labelSelector = ''): Promise<KubeObject[]> {
    const query = labelSelector === '' ? '' : `?labelSelector=${encodeURIComponent(labelSelector)}`
    return (await this.get<List>(path + query)).items ?? []
  }

  /** Lists, then follows: `onEvent` sees every change from the list's moment on. Answers the list and how to end. */
  async watch(
    path: string,
    labelSelector: string,
    onEvent: (event: WatchEvent) => void,
  ): Promise<{ items: KubeObject[]; stop: () => void }> {
    const selector = `labelSelector=${encodeURIComponent(labelSelector)}`
    const list = await this.get<List>(`${path}?${selector}`)
    const rv = list.metadata.resourceVersion
    const response = await this.#open('GET', `${path}?watch=true&${selector}&resourceVersion=${rv}`)
    let rest = ''
    response.setEncoding('utf8')
    response.on('error', () => {}) // stop() cuts the connection
    response.on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) if (line !== '') onEvent(JSON.parse(line) as WatchEvent)
    })
    return { items: list.items ?? [], stop: () => response.destroy() }
  }

  /** Every object in the namespace of every kind that is served, as `Kind/name`, sorted; Events left out. */
  async everythingIn(namespace: string): Promise<string[]> {
    const groups = await this.get<GroupList>('/apis')
    const roots = ['/api/v1', ...groups.groups.map((g) => `/apis/${g.preferredVersion.groupVersion}`)]
    const found = await Promise.all(roots.map((root) => this.#allOf(root, namespace)))
    return found.flat().sort()
  }

  async #allOf(root: string, namespace: string): Promise<string[]> {
    const { resources } = await this.get<ResourceList>(root)
    const listable = resources.filter(
      (r) => r.namespaced && r.verbs.includes('list') && !r.name.includes('/') && r.kind !== 'Event',
    )
    const names = await Promise.all(
      listable.map(async (r) => {
        const items = await this.list(`${root}/namespaces/${namespace}/${r.name}`)
        return items.map((o) => `${r.kind}/${o.metadata.name}`)
      }),
    )
    return names.flat()
  }

  close(): void {
    this.#agent.destroy()
  }

  async #json<T>(method: string, path: string, body?: object, type?: string): Promise<T> {
    const response = await this.#open(method, path, body, type)
    return JSON.parse(await text(response)) as T
  }

  /** Resolves with the open response of a success, rejects with a KubeError of anything else. */
  #open(method: string, path: string, body?: object, type = 'application/json'): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const content = body === undefined ? '' : JSON.stringify(body)
      const headers = {
        // Node does not say it of its own for DELETE, and what follows would be read as the next request.
        'content-length': Buffer.byteLength(content),
        authorization: `Bearer ${this.#token}`,
        'content-type': type,
        'user-agent': 'e2e-story',
      }
      const req = request(this.#server + path, { method, headers, agent: this.#agent }, (response) => {
        const status = response.statusCode ?? 0
        if (status < 300) return resolve(response)
        text(response).then(
          (answer) =>
            reject(new KubeError(status, `${method} ${path}: ${status} ${answer.trim().slice(0, 300)}`)),
          reject,
        )
      })
      req.once('error', reject)
      req.end(content)
    })
  }
}

async function text(response: IncomingMessage): Promise<string> {
  response.setEncoding('utf8')
  let all = ''
  for await (const chunk of response) all += String(chunk)
  return all
}
