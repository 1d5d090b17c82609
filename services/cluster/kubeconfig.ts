import { existsSync, readFileSync } from 'node:fs'
import { delimiter, dirname, isAbsolute, join } from 'node:path'
import { type Cluster, type Context, KubeConfig, type User } from '@kubernetes/client-node'
import { parse } from 'yaml'
import type { Environment } from './proxy.ts'

/** Why no connection can be set up: one sentence that says what to do, without anything secret in it. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
}

export interface KubeconfigOptions {
  /** Path given on the command line; it alone is read then. */
  kubeconfig?: string | undefined
  /** Instead of the current one. */
  context?: string | undefined
  /** Use the pod's service account, whatever kubeconfigs there are. */
  inCluster?: boolean | undefined
  /** `KUBECONFIG`, `HOME`, `KUBERNETES_SERVICE_HOST` and `_PORT`, and the proxy variables are read from it. */
  environment?: Environment | undefined
  /** Where a pod finds its service account; for tests. */
  serviceAccountPath?: string | undefined
}

/** One context with what it names. */
export interface ChosenContext {
  contextName: string
  cluster: Cluster
  /** Null: anonymous. */
  user: User | null
  namespace: string | null
  /** As `KUBECONFIG` has it; null in the cluster. */
  kubeconfigPath: string | null
  /** A file with the bearer token, which may be replaced at any time. */
  tokenFile: string | null
}

/** A user with what the library does not read of it. */
interface FileUser {
  user: User
  tokenFile: string | null
}

interface Loaded {
  clusters: Cluster[]
  users: FileUser[]
  contexts: Context[]
  currentContext: string | undefined
}

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount'

/**
 * Chooses the cluster: the given path, else `KUBECONFIG` (several paths are merged, the first one to define a
 * name wins, missing ones are skipped, as kubectl does), else `~/.kube/config`, else the pod's service
 * account.
 *
 * @throws ConnectionError
 */
export function chooseContext(options: KubeconfigOptions): ChosenContext {
  const environment = options.environment ?? {}
  if (options.inCluster) return inCluster(environment, options, true)
  if (options.kubeconfig !== undefined) return fromFiles([options.kubeconfig], options.kubeconfig, options)
  const listed = (environment.KUBECONFIG ?? '').split(delimiter).filter((path) => path !== '')
  if (listed.length > 0) {
    const present = listed.filter((path) => existsSync(path))
    if (present.length === 0)
      throw new ConnectionError(`KUBECONFIG names ${listed.join(' and ')}, but no such file exists.`)
    return fromFiles(present, listed.join(delimiter), options)
  }
  const home = environment.HOME ?? environment.USERPROFILE
  const usual = home ? join(home, '.kube', 'config') : null
  if (usual !== null && existsSync(usual)) return fromFiles([usual], usual, options)
  return inCluster(environment, options, false)
}

function fromFiles(paths: string[], kubeconfigPath: string, options: KubeconfigOptions): ChosenContext {
  const files = paths.map(loadFile)
  const all: Loaded = {
    clusters: files.flatMap((file) => file.clusters),
    users: files.flatMap((file) => file.users),
    contexts: files.flatMap((file) => file.contexts),
    currentContext: files.map((file) => file.currentContext).find((name) => name),
  }
  const contextName = options.context ?? all.currentContext
  const known = all.contexts.map(({ name }) => name).join(', ') || 'none'
  if (!contextName) {
    throw new ConnectionError(
      `${kubeconfigPath} has no current context; choose one with --context (there are: ${known}).`,
    )
  }
  const context = all.contexts.find(({ name }) => name === contextName)
  if (!context) {
    throw new ConnectionError(
      `${kubeconfigPath} has no context ${contextName}; choose another with --context (there are: ${known}).`,
    )
  }
  const cluster = all.clusters.find(({ name }) => name === context.cluster)
  if (!cluster) {
    throw new ConnectionError(
      `Context ${contextName} names the cluster ${context.cluster}, which ${kubeconfigPath} does not define; correct one of the two.`,
    )
  }
  const found = all.users.find(({ user }) => user.name === context.user) ?? null
  if (context.user && !found) {
    throw new ConnectionError(
      `Context ${contextName} names the user ${context.user}, which ${kubeconfigPath} does not define; correct one of the two.`,
    )
  }
  const { user = null, tokenFile = null } = found ?? {}
  return { contextName, cluster, user, namespace: context.namespace ?? null, kubeconfigPath, tokenFile }
}

function loadFile(path: string): Loaded {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    const why = code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`
    throw new ConnectionError(`The kubeconfig ${path} ${why}; give another with --kubeconfig or KUBECONFIG.`)
  }
  try {
    const config = new KubeConfig()
    config.loadFromString(text)
    config.makePathsAbsolute(dirname(path))
    const { clusters, contexts } = config
    const files = tokenFiles(text, path)
    const users = config.users.map((user) => ({
      user: withExecPath(user, path),
      tokenFile: files.get(user.name) ?? null,
    }))
    // Absent in the file is undefined here, whatever the library's type says.
    const currentContext = config.currentContext as string | undefined
    return { clusters, users, contexts, currentContext }
  } catch {
    // The parser's messages quote the file, tokens and keys included.
    throw new ConnectionError(
      `${path} is not a valid kubeconfig; check it with "kubectl config view --kubeconfig ${path}".`,
    )
  }
}

/** `tokenFile` of users, which the library does not read. */
function tokenFiles(text: string, path: string): Map<string, string> {
  const raw = parse(text) as { users?: { name?: unknown; user?: { tokenFile?: unknown } | null }[] } | null
  const found = new Map<string, string>()
  for (const entry of raw?.users ?? []) {
    const file = entry.user?.tokenFile
    if (typeof entry.name !== 'string' || typeof file !== 'string' || file === '') continue
    found.set(entry.name, isAbsolute(file) ? file : join(dirname(path), file))
  }
  return found
}

/** A relative path of an exec plug-in is meant from the kubeconfig's folder; the library takes it from ours. */
function withExecPath(user: User, path: string): User {
  const command: unknown = user.exec?.command
  if (typeof command !== 'string' || !command.includes('/') || isAbsolute(command)) return user
  return { ...user, exec: { ...user.exec, command: join(dirname(path), command) } }
}

function inCluster(environment: Environment, options: KubeconfigOptions, asked: boolean): ChosenContext {
  const folder = options.serviceAccountPath ?? SERVICE_ACCOUNT
  const host = environment.KUBERNETES_SERVICE_HOST
  const port = environment.KUBERNETES_SERVICE_PORT ?? '443'
  const tokenFile = join(folder, 'token')
  if (!host || !existsSync(tokenFile)) {
    throw new ConnectionError(
      asked
        ? 'This is not a pod with a service account; give a kubeconfig with --kubeconfig or KUBECONFIG.'
        : 'No cluster found: there is no KUBECONFIG, no ~/.kube/config and no service account; give a kubeconfig with --kubeconfig.',
    )
  }
  if (options.context !== undefined) {
    throw new ConnectionError(
      `There is no context ${options.context}, since no kubeconfig was found; give one with --kubeconfig.`,
    )
  }
  const caFile = join(folder, 'ca.crt')
  const namespaceFile = join(folder, 'namespace')
  return {
    contextName: 'in-cluster',
    cluster: {
      name: 'in-cluster',
      server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
      skipTLSVerify: false,
      ...(existsSync(caFile) && { caFile }),
    },
    user: { name: 'service-account' },
    namespace: existsSync(namespaceFile) ? readFileSync(namespaceFile, 'utf8').trim() || null : null,
    kubeconfigPath: null,
    tokenFile,
  }
}
