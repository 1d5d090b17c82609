import type { KubeObject } from '../api/types.ts'
import { isConflict, isNotFound } from '../apiError.ts'
import type { KubeClient } from '../client.ts'
import type { Clock } from '../clock.ts'
import { startInformer } from '../informer.ts'
import { groupPath, NAMESPACE, type ResourceType } from '../resourceTypes.ts'
import { createQueue } from '../workQueue.ts'
import type { Controller } from './garbage.ts'

/** How long until a namespace that is not empty yet is looked at again, in milliseconds. */
const pauseMs = 500

/**
 * Empties namespaces that are being deleted: every object of every served kind is deleted (pods gracefully), and
 * when nothing is left the namespace is finalized.
 */
export function startNamespaceController(options: {
  client: KubeClient
  clock: Clock
  onError: (message: string) => void
}): Controller {
  const { client, clock, onError } = options
  const queue = createQueue(clock, reconcile, (key, error) =>
    onError(`namespace ${key}: ${(error as Error).message}`),
  )
  const namespaces = startInformer({
    client,
    clock,
    type: NAMESPACE,
    onChange: (key, now) => {
      if (now?.metadata.deletionTimestamp !== undefined) queue.add(key)
    },
    onError,
  })

  async function reconcile(key: string): Promise<number | undefined> {
    const namespace = namespaces.get(key)
    if (namespace?.metadata.deletionTimestamp === undefined) return undefined
    const left = await empty(namespace.metadata.name)
    if (left > 0) return pauseMs
    return finalize(namespace)
  }

  /** Deletes what is not being deleted yet. Returns how many objects there were. */
  async function empty(namespace: string): Promise<number> {
    let count = 0
    for (const type of await namespacedTypes(client)) {
      const { items } = await client.list(type, { namespace, metadataOnly: true })
      count += items.length
      for (const { metadata } of items) {
        if (metadata.deletionTimestamp !== undefined) continue
        await client.delete(type, namespace, metadata.name, { propagation: 'Background' })
      }
    }
    return count
  }

  async function finalize(namespace: KubeObject): Promise<number | undefined> {
    try {
      await client.replace(NAMESPACE, { ...namespace, spec: { finalizers: [] } }, 'finalize')
    } catch (error) {
      if (isConflict(error)) return pauseMs
      if (!isNotFound(error)) throw error
    }
    return undefined
  }

  return {
    synced: namespaces.synced,
    async stop() {
      await namespaces.stop()
      await queue.stop()
    },
  }
}

interface GroupList {
  groups: { preferredVersion: { groupVersion: string } }[]
}

interface ResourceList {
  resources: { name: string; kind: string; namespaced: boolean; verbs: string[] }[]
}

async function namespacedTypes(client: KubeClient): Promise<ResourceType[]> {
  const { groups } = await client.read<GroupList>('/apis')
  const versions = ['v1', ...groups.map((group) => group.preferredVersion.groupVersion)]
  const lists = await Promise.all(
    versions.map(async (apiVersion) => {
      const { resources } = await client.read<ResourceList>(groupPath(apiVersion))
      return resources
        .filter(
          ({ name, namespaced, verbs }) => namespaced && !name.includes('/') && verbs.includes('delete'),
        )
        .map(({ name, kind }) => ({ apiVersion, kind, plural: name, namespaced: true }))
    }),
  )
  return lists.flat()
}
