import { fileURLToPath } from 'node:url'
import type { Connection } from '../services/cluster/connectionTypes.ts'
import { HelmRunner } from '../services/helm/runner.ts'
import type { Clock } from '../services/runtime/clock.ts'
import type { Logger } from '../services/runtime/logger.ts'
import { systemClock } from './clock.ts'

/** The compiled program under which helm runs. */
export const SUPERVISOR_PATH = fileURLToPath(
  new URL(
    import.meta.url.endsWith('.ts') ? '../dist/server/helm-supervisor.js' : './helm-supervisor.js',
    import.meta.url,
  ),
)

/** Variables by which helm would go to another cluster, act as somebody else, or keep its records elsewhere. */
const REDIRECTING = /^(KUBECONFIG|HELM_(KUBE.*|DRIVER.*|NAMESPACE))$/

/**
 * The environment of helm: that of the machine, but on the gateway's own cluster and context. In a pod there
 * is no kubeconfig, and helm finds the service account by itself.
 */
export function helmEnvironment(
  { kubeconfigPath, contextName }: Pick<Connection, 'kubeconfigPath' | 'contextName'>,
  env: NodeJS.ProcessEnv,
): Record<string, string | undefined> {
  const kept = Object.entries(env).filter(([name]) => !REDIRECTING.test(name))
  const cluster = kubeconfigPath === null ? {} : { KUBECONFIG: kubeconfigPath, HELM_KUBECONTEXT: contextName }
  return { ...Object.fromEntries(kept), ...cluster }
}

/** helm on the gateway's own cluster, under the supervisor. */
export function makeHelm(
  connection: Pick<Connection, 'kubeconfigPath' | 'contextName'>,
  helmBin: string,
  env: NodeJS.ProcessEnv,
  logger: Logger,
  clock: Clock = systemClock,
): HelmRunner {
  const environment = helmEnvironment(connection, env)
  return new HelmRunner({ helmBin, supervisorPath: SUPERVISOR_PATH, env: environment, clock, logger })
}
