import type { KubeObject } from '../api/types.ts'
import type { KubeClient } from '../client.ts'
import type { Clock } from '../clock.ts'
import { startInformer } from '../informer.ts'
import { LLM_SERVICE, POD } from '../resourceTypes.ts'
import { createQueue } from '../workQueue.ts'
import { bringUp } from './apply.ts'
import { readService } from './context.ts'
import { isStale } from './errors.ts'
import { finalizer, isSettled, type LlmService } from './llmService.ts'
import { instanceLabel } from './pods.ts'
import { dropAtOnce, tearDown } from './teardown.ts'

export interface OperatorOptions {
  client: KubeClient
  clock: Clock
  /** All of them when empty. */
  namespaces?: string[]
  /** Takes LLMServices away at once and says nothing in their status. */
  unstaged?: boolean
  /** Told of every failure; each is tried again. */
  onError: (message: string) => void
}

export interface Operator {
  /** Resolves once it has seen what there is. */
  readonly synced: Promise<void>
  /** Waits for what is being done. */
  stop(): Promise<void>
}

/** After another writer was faster, in milliseconds; not always the same, so that two do not meet again. */
const staleMs = () => 20 + Math.random() * 80

/**
 * Starts the llm-operator: runs the release of every LLMService and takes it away again. It keeps nothing in mind:
 * what is to be done is read from the object and from the cluster, each time anew.
 */
export function startOperator(options: OperatorOptions): Operator {
  const { client, clock, unstaged = false, onError } = options
  const context = { client, clock }
  const namespaces = options.namespaces?.length ? options.namespaces : ['']
  const known = new Map<string, LlmService>()

  const queue = createQueue(clock, reconcile, (key, error) =>
    onError(`LLMService ${key}: ${(error as Error).message}`),
  )
  const informers = namespaces.flatMap((namespace) => {
    const common = { client, clock, onError }
    const services = startInformer({
      ...common,
      type: LLM_SERVICE,
      selection: { namespace },
      onChange: (key, now) => {
        if (now) known.set(key, now)
        else known.delete(key)
        if (now) queue.add(key)
      },
    })
    const pods = startInformer({
      ...common,
      type: POD,
      selection: { namespace, labelSelector: instanceLabel },
      onChange: (_key, now, before) => podChanged(now ?? before),
    })
    return [services, pods]
  })
  const synced = Promise.all(informers.map((informer) => informer.synced)).then(() => {})

  function podChanged(pod: KubeObject | undefined): void {
    const key = `${pod?.metadata.namespace}/${pod?.metadata.labels?.[instanceLabel]}`
    if (known.get(key)?.metadata.deletionTimestamp !== undefined) queue.add(key)
  }

  async function reconcile(key: string): Promise<number | undefined> {
    const seen = known.get(key)
    if (!seen || isSettled(seen)) return undefined
    const [namespace = '', name = ''] = key.split('/')
    try {
      const service = await readService(context, namespace, name)
      if (!service) return undefined
      if (service.metadata.deletionTimestamp === undefined) {
        await bringUp(context, service)
        return undefined
      }
      if (!service.metadata.finalizers?.includes(finalizer)) return undefined
      if (!unstaged) return await tearDown(context, service)
      await dropAtOnce(context, service)
      return undefined
    } catch (error) {
      if (isStale(error)) return staleMs()
      throw error
    }
  }

  return {
    synced,
    async stop() {
      await Promise.all(informers.map((informer) => informer.stop()))
      await queue.stop()
    },
  }
}
