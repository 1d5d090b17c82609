import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, isAbsolute, join } from 'node:path'
import { readBlockYaml } from './blockYaml.ts'

/** What a client needs to reach one API server. */
export interface ServerAccess {
  /** Base URL without a trailing slash. */
  server: string
  token?: string
  /** PEM texts. */
  certificate?: string
  key?: string
  certificateAuthority?: string
  /** Name to check the server's certificate against, instead of the URL's host. */
  serverName?: string
  insecureSkipVerify?: boolean
  /** Namespace of the context; `default` when it names none. */
  namespace: string
}

type Fields = Record<string, unknown>

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}

/** Kubeconfig files in the order they are merged: an explicit path, else KUBECONFIG, else `~/.kube/config`. */
export function kubeconfigPaths(explicit: string | undefined, env: NodeJS.ProcessEnv): string[] {
  if (explicit) return [explicit]
  const listed = (env.KUBECONFIG ?? '').split(delimiter).filter((path) => path !== '')
  return listed.length > 0 ? listed : [join(homedir(), '.kube', 'config')]
}

/**
 * Reads kubeconfig files as kubectl does (of two entries with one name the first wins) and returns how to reach
 * the cluster of `context`, else of the current context.
 *
 * Users with a token, a token file or a client certificate are supported; exec and auth-provider plug-ins are not.
 * Throws an Error with one sentence when a file cannot be read or names something that is not there.
 */
export function readKubeconfig(paths: string[], context?: string): ServerAccess {
  const merged = { current: '', clusters: new Map(), users: new Map(), contexts: new Map() } as {
    current: string
    clusters: Map<string, Fields>
    users: Map<string, Fields>
    contexts: Map<string, Fields>
  }
  for (const path of paths) {
    const file = fieldsOf(readBlockYaml(readFileSync(path, 'utf8')))
    if (merged.current === '' && typeof file['current-context'] === 'string')
      merged.current = file['current-context']
    for (const [list, item] of [
      ['clusters', 'cluster'],
      ['users', 'user'],
      ['contexts', 'context'],
    ] as const) {
      for (const entry of Array.isArray(file[list]) ? file[list] : []) {
        const { name, [item]: body } = fieldsOf(entry)
        if (typeof name === 'string' && !merged[list].has(name)) {
          // Relative paths in a kubeconfig are relative to the file they stand in.
          merged[list].set(name, { ...fieldsOf(body), directory: dirname(path) })
        }
      }
    }
  }
  const name = context ?? merged.current
  const chosen = merged.contexts.get(name)
  if (!chosen) throw new Error(`context "${name}" does not exist`)
  const cluster = merged.clusters.get(String(chosen.cluster))
  if (!cluster || typeof cluster.server !== 'string')
    throw new Error(`cluster "${chosen.cluster}" does not exist`)
  const user = merged.users.get(String(chosen.user)) ?? {}
  if (user.exec || user['auth-provider']) {
    throw new Error(`user "${chosen.user}" needs a credential plug-in, which the sandbox does not run`)
  }
  return accessOf(cluster, user, typeof chosen.namespace === 'string' ? chosen.namespace : 'default')
}

function accessOf(cluster: Fields, user: Fields, namespace: string): ServerAccess {
  const token = typeof user.token === 'string' ? user.token : fileText(user, 'tokenFile')?.trim()
  const certificate = pem(user, 'client-certificate')
  const key = pem(user, 'client-key')
  const certificateAuthority = pem(cluster, 'certificate-authority')
  const serverName = cluster['tls-server-name']
  return {
    server: String(cluster.server).replace(/\/+$/, ''),
    ...(token ? { token } : {}),
    ...(certificate ? { certificate } : {}),
    ...(key ? { key } : {}),
    ...(certificateAuthority ? { certificateAuthority } : {}),
    ...(typeof serverName === 'string' ? { serverName } : {}),
    ...(cluster['insecure-skip-tls-verify'] === true ? { insecureSkipVerify: true } : {}),
    namespace,
  }
}

function pem(fields: Fields, name: string): string | undefined {
  const data = fields[`${name}-data`]
  return typeof data === 'string' ? Buffer.from(data, 'base64').toString('utf8') : fileText(fields, name)
}

function fileText(fields: Fields, name: string): string | undefined {
  const path = fields[name]
  if (typeof path !== 'string' || path === '') return undefined
  return readFileSync(isAbsolute(path) ? path : join(String(fields.directory), path), 'utf8')
}
