import { readFileSync } from 'node:fs'
import { ApiError } from '../apiError.ts'
import { createClient, type KubeClient } from '../client.ts'
import { kubeconfigPaths, readKubeconfig, type ServerAccess } from '../kubeconfig.ts'
import type { CommandLine } from './arguments.ts'
import { HelmError } from './helmError.ts'
import { userAgent } from './version.ts'

/** A connection to the cluster, found as helm finds it: flags before environment before kubeconfig. */
export interface HelmCluster {
  client: KubeClient
  /** The namespace the command is about. */
  namespace: string
}

const unreachable = (message: string) => new HelmError(`kubernetes cluster unreachable: ${message}`)

export function openCluster({ flags }: CommandLine, env: NodeJS.ProcessEnv): HelmCluster {
  const given = (name: string, variable: string) => flags.get(name) || env[variable] || undefined
  const server = given('kube-apiserver', 'HELM_KUBEAPISERVER')
  const token = given('kube-token', 'HELM_KUBETOKEN')
  const authority = given('kube-ca-file', 'HELM_KUBECAFILE')
  const serverName = given('kube-tls-server-name', 'HELM_KUBETLS_SERVER_NAME')
  const insecure = given('kube-insecure-skip-tls-verify', 'HELM_KUBEINSECURE_SKIP_TLS_VERIFY') === 'true'
  const access: ServerAccess = {
    ...baseAccess(server, flags.get('kubeconfig'), given('kube-context', 'HELM_KUBECONTEXT'), env),
    ...(server ? { server: server.replace(/\/+$/, '') } : {}),
    ...(token ? { token } : {}),
    ...(authority ? { certificateAuthority: readFileSync(authority, 'utf8') } : {}),
    ...(serverName ? { serverName } : {}),
    ...(insecure ? { insecureSkipVerify: true } : {}),
  }
  return {
    client: createClient(access, userAgent),
    namespace: given('namespace', 'HELM_NAMESPACE') ?? access.namespace,
  }
}

function baseAccess(
  server: string | undefined,
  kubeconfig: string | undefined,
  context: string | undefined,
  env: NodeJS.ProcessEnv,
): ServerAccess {
  try {
    return readKubeconfig(kubeconfigPaths(kubeconfig, env), context)
  } catch (error) {
    // A server that is named needs no kubeconfig.
    if (server && !kubeconfig && !context) return { server, namespace: 'default' }
    throw unreachable((error as Error).message)
  }
}

/** What helm asks first; throws HelmError in helm's words. */
export async function requireReachable({ client }: HelmCluster): Promise<void> {
  try {
    await client.read('/version')
  } catch (error) {
    throw unreachable(wordsOf(error, `${client.access.server}/version`))
  }
}

function wordsOf(error: unknown, url: string): string {
  if (error instanceof ApiError) {
    return error.status === 401 ? 'the server has asked for the client to provide credentials' : error.message
  }
  const { code, address, port, message } = error as NodeJS.ErrnoException & {
    address?: string
    port?: number
  }
  if (code !== 'ECONNREFUSED') return message
  return `Get "${url}": dial tcp ${address}:${port}: connect: connection refused`
}
