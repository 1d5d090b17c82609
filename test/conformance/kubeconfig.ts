import { readFileSync } from 'node:fs'
import { parse } from 'yaml'

/** How to reach an API server as a cluster's administrator. */
export interface Access {
  /** Without a slash at the end. */
  server: string
  token?: string
  /** PEM. */
  ca?: string
  cert?: string
  key?: string
}

interface Named {
  name: string
  cluster?: Record<string, string>
  user?: Record<string, string>
  context?: Record<string, string>
}

/**
 * Reads the current context of one kubeconfig file: token or client certificate, given in the file itself.
 *
 * @throws Error when the file names something that is not in it
 */
export function readAccess(path: string): Access {
  const file = parse(readFileSync(path, 'utf8')) as Record<string, unknown>
  const entry = (list: string, name: unknown): Named => {
    const found = ((file[list] ?? []) as Named[]).find((one) => one.name === name)
    if (found === undefined) throw new Error(`${path}: there is no ${JSON.stringify(name)} in its ${list}`)
    return found
  }
  const context = entry('contexts', file['current-context']).context ?? {}
  const cluster = entry('clusters', context.cluster).cluster ?? {}
  const user = entry('users', context.user).user ?? {}
  const access: Access = { server: (cluster.server ?? '').replace(/\/+$/, '') }
  if (user.token !== undefined) access.token = user.token
  const ca = pem(cluster, 'certificate-authority')
  const cert = pem(user, 'client-certificate')
  const key = pem(user, 'client-key')
  if (ca !== undefined) access.ca = ca
  if (cert !== undefined) access.cert = cert
  if (key !== undefined) access.key = key
  return access
}

function pem(fields: Record<string, string>, name: string): string | undefined {
  const data = fields[`${name}-data`]
  if (data !== undefined) return Buffer.from(data, 'base64').toString('utf8')
  const path = fields[name]
  return path === undefined ? undefined : readFileSync(path, 'utf8')
}
