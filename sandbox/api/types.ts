import type { Clock } from '../clock.ts'

/** Any Kubernetes object as it stands in the store and on the wire. */
export interface KubeObject {
  apiVersion: string
  kind: string
  metadata: {
    name: string
    namespace?: string
    uid?: string
    resourceVersion?: string
    generation?: number
    creationTimestamp?: string
    deletionTimestamp?: string
    deletionGracePeriodSeconds?: number
    labels?: Record<string, string>
    annotations?: Record<string, string>
    finalizers?: string[]
    ownerReferences?: Record<string, unknown>[]
    [key: string]: unknown
  }
  [key: string]: unknown
}

/** Names one object: `{kind, name}` for cluster-scoped kinds. */
export interface ObjectRef {
  kind: string
  namespace?: string
  name: string
}

/**
 * The store behind the API server, for seeding and for tests: everything goes in as written, with no
 * validation, admission or defaulting (uid and creationTimestamp are made when absent, resourceVersion always),
 * and watchers are told. It also holds objects of kinds that are not served at the moment. A namespace that
 * something is put into and that nobody has written is made, and may still be written by `create`.
 */
export interface Store {
  /** The object as stored (a copy), or undefined. */
  get(ref: ObjectRef): KubeObject | undefined
  /** All objects of a kind, copies, by namespace and name. */
  list(kind: string): KubeObject[]
  /** Adds an object; one of that name must not exist. */
  create(object: KubeObject): KubeObject
  /** Puts an object in the place of another of that name; a different `metadata.uid` is sent to watchers as DELETED and ADDED. */
  replace(object: KubeObject): KubeObject
  /** JSON merge patch, status included. One that takes the last finalizer of a deleting object removes it. */
  patch(ref: ObjectRef, patch: unknown): KubeObject
  /** As `kubectl delete` does: graceful for pods, waits for finalizers. */
  delete(ref: ObjectRef): void
  /** Gone now, whatever its finalizers. Throws when it is not there. */
  remove(ref: ObjectRef): void
}

/** How the API server misbehaves. Matched by the caller's verb: get list watch create update patch delete deletecollection. */
export interface Fault {
  verb: string
  kind: string
  namespace?: string
  name?: string
  /** Answer with this HTTP status (and a Status object with `reason`). Without it the call goes its normal way. */
  status?: number
  reason?: string
  message?: string
  /** Sent as a header together with `status`, in seconds. */
  retryAfter?: number
  /** How many calls it answers; forever when absent. */
  times?: number
  /** watch only: cut the open streams of that kind (and, where none is open, the next). */
  drop?: boolean
  /** watch only: send 410 into the open streams of that kind (and, where none is open, answer the next with 410). */
  gone?: boolean
  /** watch only: the open streams of that kind (where none is open, the next) send nothing more and stay open. */
  silent?: boolean
  /** Runs just before a matching call is handled. */
  first?: () => void | Promise<void>
}

/** One call as it was received, for counting. */
export interface ApiCall {
  verb: string
  kind: string
  namespace?: string
  name?: string
  userAgent: string
  token: string
  status: number
}

/** A watch stream that is open. */
export interface StreamInfo {
  kind: string
  /** Empty for a watch over all namespaces. */
  namespace: string
  labelSelector: string
  userAgent: string
  token: string
  /** resourceVersion of the last event or bookmark written to it (that it started from, before the first). */
  sent: string
  /** True while a fault keeps it silent: then nothing more will come. */
  silent: boolean
}

export interface ApiServerOptions {
  clock: Clock
  /** 0 picks a free loopback port (the default). */
  port?: number
  /** Bearer tokens that are accepted, and who they stand for. Others answer 401. */
  tokens: Record<string, { user: string; groups: string[] }>
  /** Kinds of custom resources that are served at start. Default: LLMService. */
  served?: string[]
  /** How many changes per kind a watch can be resumed over before it is told 410. Default 1,000. */
  history?: number
  /** Which calls faults apply to; all by default. The case runner lets helm's calls through. */
  faultsApplyTo?: (call: { userAgent: string; token: string }) => boolean
  /**
   * Serve https with a certificate made at start. kubectl, helm and everything else that is built on client-go
   * leave the token of a kubeconfig out unless its server is https, so a kubeconfig for them needs this.
   */
  tls?: boolean
}

/** The sandbox API server: real HTTP on loopback, an in-process handle for tests beside it. */
export interface ApiServer {
  /** `http://127.0.0.1:<port>`, or `https://…` with `tls`. */
  readonly url: string
  /** With `tls`: the certificate in PEM, which is its own authority (`certificate-authority-data` of a kubeconfig). */
  readonly certificate?: string
  readonly store: Store
  /** Custom resources served from now on; a kind taken away ends its streams and answers 404 page not found. */
  setServed(kinds: string[]): void
  /** Arms a fault; the oldest that matches and has `times` left answers. */
  fault(fault: Fault): void
  clearFaults(): void
  /** Adds or takes away (null) a token at run time. */
  setToken(token: string, identity: { user: string; groups: string[] } | null): void
  /** Called for each call once it is answered (a watch: once it has begun). */
  onCall(listener: (call: ApiCall) => void): () => void
  /** Open watch streams. */
  streams(): StreamInfo[]
  /** Requests that are being handled right now (watches that have begun not counted). */
  readonly inFlight: number
  /** Highest resourceVersion given out. */
  readonly resourceVersion: string
  /** Ends all streams and closes the port. */
  stop(): Promise<void>
}

/** Implemented in `server.ts`: `startApiServer(options): Promise<ApiServer>`. */
export type StartApiServer = (options: ApiServerOptions) => Promise<ApiServer>
