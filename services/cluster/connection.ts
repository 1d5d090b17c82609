import { accessSync, constants } from 'node:fs'
import { Agent, type Dispatcher, ProxyAgent } from 'undici'
import type { Connection } from './connectionTypes.ts'
import { Credentials, KEEP_ALIVE } from './credentials.ts'
import { type ChosenContext, ConnectionError, chooseContext, type KubeconfigOptions } from './kubeconfig.ts'
import { proxyFromEnvironment } from './proxy.ts'

export type { Connection } from './connectionTypes.ts'
export { ConnectionError } from './kubeconfig.ts'

/** See `KubeconfigOptions`; all optional. */
export type ConnectionOptions = KubeconfigOptions

/**
 * Sets up how to reach the cluster; `chooseContext` says which one. Nothing is sent yet.
 *
 * The library's own request path opens a new TLS connection for every call. Here all calls share one pool;
 * the library is asked for headers, and for certificates when a new connection is made.
 *
 * @throws ConnectionError with one sentence that says what to do
 */
export function loadConnection(options: ConnectionOptions = {}): Connection {
  const chosen = chooseContext(options)
  const server = checkedServer(chosen)
  checkFiles(chosen)
  const credentials = new Credentials(chosen)
  const proxy = chosen.cluster.proxyUrl || proxyFromEnvironment(server, options.environment ?? {})
  const dispatcher = proxy ? throughProxy(proxy, credentials) : new Agent({ connect: credentials.connect })
  return {
    server,
    contextName: chosen.contextName,
    user: chosen.user?.name ?? null,
    defaultNamespace: chosen.namespace,
    kubeconfigPath: chosen.kubeconfigPath,
    dispatcher,
    headers: () => credentials.headers(),
    unauthorized: () => credentials.forget(),
    close: () => dispatcher.destroy(),
  }
}

function checkedServer({ cluster, contextName }: ChosenContext): string {
  const protocol = URL.canParse(cluster.server) ? new URL(cluster.server).protocol : ''
  if (protocol !== 'http:' && protocol !== 'https:') {
    throw new ConnectionError(
      `The server of context ${contextName} is no http or https address; correct the kubeconfig.`,
    )
  }
  return cluster.server.replace(/\/+$/, '')
}

function checkFiles({ cluster, user, tokenFile, contextName }: ChosenContext): void {
  for (const path of [cluster.caFile, user?.certFile, user?.keyFile, tokenFile]) {
    if (!path) continue
    try {
      accessSync(path, constants.R_OK)
    } catch {
      throw new ConnectionError(
        `Context ${contextName} needs the file ${path}, which cannot be read; correct the kubeconfig.`,
      )
    }
  }
}

function throughProxy(uri: string, credentials: Credentials): Dispatcher {
  const protocol = URL.canParse(uri) ? new URL(uri).protocol : ''
  if (!['http:', 'https:', 'socks5:'].includes(protocol)) {
    throw new ConnectionError(
      'The proxy-url is no http, https or socks5 address; correct the kubeconfig or the proxy variables.',
    )
  }
  // A proxy takes the certificates once: those of an exec plug-in cannot be used through one.
  return new ProxyAgent({
    uri,
    requestTls: { ...credentials.fixedTls(), ...KEEP_ALIVE },
    proxyTls: KEEP_ALIVE,
  })
}
