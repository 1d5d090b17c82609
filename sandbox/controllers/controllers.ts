import type { KubeClient } from '../client.ts'
import type { Clock } from '../clock.ts'
import { type Controller, startGarbageCollector } from './garbage.ts'
import { startNamespaceController } from './namespaces.ts'
import { startWorkloads } from './workloads.ts'

/** Starts what a controller-manager would: workloads, garbage collection, deletion of namespaces. */
export function startControllers(options: {
  client: KubeClient
  clock: Clock
  onError: (message: string) => void
}): Controller {
  const running = [startWorkloads(options), startGarbageCollector(options), startNamespaceController(options)]
  return {
    synced: Promise.all(running.map((controller) => controller.synced)).then(() => {}),
    async stop() {
      await Promise.all(running.map((controller) => controller.stop()))
    },
  }
}
