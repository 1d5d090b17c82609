import type { Dispatcher } from 'undici'

/**
 * How to reach one cluster as one user. Made by `loadConnection`; kept apart from it so that nothing but the
 * start-up loads the Kubernetes client library (0.6 s and 130 MB).
 */
export interface Connection {
  /** Base URL without a trailing slash; may have a path (an API server behind a proxy). */
  readonly server: string
  readonly contextName: string
  /** Name of the user entry in the kubeconfig; null for an anonymous one. */
  readonly user: string | null
  /** Namespace of the context (in the cluster: that of the service account). */
  readonly defaultNamespace: string | null
  /** What a child process gets as `KUBECONFIG`: one path, or several as that variable has them. */
  readonly kubeconfigPath: string | null
  /** The one pool of connections that lists, watches and writes all go through. */
  readonly dispatcher: Dispatcher
  /**
   * Headers that authenticate a request. Asked for anew for each one, so that rotated tokens and exec
   * plug-ins work without a restart.
   *
   * @throws Error when credentials cannot be had (an exec plug-in fails, a token file is not readable)
   */
  headers(): Promise<Record<string, string>>
  /** To be told of a 401: cached credentials are dropped, so that the next request gets fresh ones. */
  unauthorized(): void
  /** Closes all connections, open watches too. */
  close(): Promise<void>
}
