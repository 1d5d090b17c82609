import { readFile } from 'node:fs/promises'
import type { RequestOptions } from 'node:https'
import { bufferFromFileOrString, KubeConfig } from '@kubernetes/client-node'
import { buildConnector } from 'undici'
import type { ChosenContext } from './kubeconfig.ts'

/** Shorter than the idle time-out of common load balancers (60 s); what client-go uses. */
export const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelay: 30_000 }

interface Tls {
  ca?: Buffer
  cert?: Buffer
  key?: Buffer
  servername?: string
  rejectUnauthorized?: boolean
}

/** What the library fills in for one request. */
type Applied = RequestOptions & Tls & { headers?: Record<string, string> }

/**
 * Authentication, by the Kubernetes client library: tokens, client certificates, exec plug-ins, OIDC,
 * impersonation. It caches what an exec plug-in said until that expires (or for ever, if it does not say), and
 * a service account's token file for a minute; the file is therefore read here, for each request.
 */
export class Credentials {
  readonly #chosen: ChosenContext
  #config: KubeConfig
  #applying: Promise<Applied> | null = null
  #connector: { connect: buildConnector.connector; tls: Tls } | null = null

  constructor(chosen: ChosenContext) {
    this.#chosen = chosen
    this.#config = this.#makeConfig()
  }

  /** @throws Error when an exec plug-in fails or a file is not readable */
  async headers(): Promise<Record<string, string>> {
    const applied = await this.#apply()
    const headers: Record<string, string> = { ...applied.headers }
    if (typeof applied.auth === 'string') {
      headers.Authorization = `Basic ${Buffer.from(applied.auth).toString('base64')}`
    }
    if (this.#chosen.tokenFile !== null) {
      const token = (await readFile(this.#chosen.tokenFile, 'utf8')).trim()
      headers.Authorization = `Bearer ${token}`
    }
    return headers
  }

  /** After a 401: what the library has cached is not good any more. */
  forget(): void {
    this.#config = this.#makeConfig()
    this.#applying = null
  }

  /** Connects with the certificates as they are now: files and exec plug-ins may bring new ones. */
  readonly connect: buildConnector.connector = (options, callback) => {
    this.#apply().then(
      (applied) => this.#connectorFor(tlsOf(applied))(options, callback),
      (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), null),
    )
  }

  /** The certificates as far as they are known without asking an exec plug-in. */
  fixedTls(): Tls {
    const { cluster, user } = this.#chosen
    const ca = bufferFromFileOrString(cluster.caFile, cluster.caData)
    const cert = bufferFromFileOrString(user?.certFile, user?.certData)
    const key = bufferFromFileOrString(user?.keyFile, user?.keyData)
    return {
      ...(ca && { ca }),
      ...(cert && { cert }),
      ...(key && { key }),
      ...(cluster.tlsServerName && { servername: cluster.tlsServerName }),
      ...(cluster.skipTLSVerify && { rejectUnauthorized: false }),
    }
  }

  /** One at a time: several requests that begin together must not each start the exec plug-in. */
  #apply(): Promise<Applied> {
    if (this.#applying) return this.#applying
    const applied: Applied = {}
    const applying = this.#config.applyToHTTPSOptions(applied).then(() => applied)
    const settled = () => {
      if (this.#applying === applying) this.#applying = null
    }
    this.#applying = applying
    applying.then(settled, settled)
    return applying
  }

  /** Kept while the certificates are the same, since it caches TLS sessions. */
  #connectorFor(tls: Tls): buildConnector.connector {
    if (!this.#connector || !sameTls(this.#connector.tls, tls)) {
      this.#connector = {
        tls,
        connect: buildConnector({ ...tls, ...KEEP_ALIVE } as buildConnector.BuildOptions),
      }
    }
    return this.#connector.connect
  }

  #makeConfig(): KubeConfig {
    const { cluster, user, contextName } = this.#chosen
    const { proxyUrl: _, ...direct } = cluster
    const config = new KubeConfig()
    config.loadFromOptions({
      // The library refuses http: unless it may skip verifying, of which there is none without TLS. And
      // without a user it would leave the certificates out.
      clusters: [{ ...direct, skipTLSVerify: cluster.skipTLSVerify || cluster.server.startsWith('http:') }],
      users: [user ?? { name: 'anonymous' }],
      contexts: [{ name: contextName, cluster: cluster.name, user: user?.name ?? 'anonymous' }],
      currentContext: contextName,
    })
    return config
  }
}

function tlsOf({ ca, cert, key, servername, rejectUnauthorized }: Applied): Tls {
  return {
    ...(ca && { ca }),
    ...(cert && { cert }),
    ...(key && { key }),
    ...(servername && { servername }),
    ...(rejectUnauthorized !== undefined && { rejectUnauthorized }),
  }
}

function sameTls(a: Tls, b: Tls): boolean {
  return JSON.stringify(a, asText) === JSON.stringify(b, asText)
}

function asText(_: string, value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value
}
