import type { KubeObject, Store } from '../api/types.ts'
import { namespace, node } from './cluster.ts'
import { seedFleet } from './fleet.ts'
import { sampleLlmServices } from './llmServices.ts'
import { gptOss, kimi } from './models.ts'
import { sampleReleases } from './releases.ts'
import { type SloPlace, siteProfile } from './slo.ts'

const systemNamespace = 'swiss-system'

/**
 * Fills an empty store with the sample cluster; `releases` is how many generated releases come on top, `slo` where the
 * SLO service is.
 *
 * @param now milliseconds since the epoch; all times of the sample lie before it
 */
export function seedSamples(store: Store, now: number, releases = 0, slo?: SloPlace): void {
  for (const object of sampleObjects(now, slo)) store.create(object)
  seedFleet(store, now, releases)
}

/** The sample cluster, owners before what they own. */
export function sampleObjects(now: number, slo?: SloPlace): KubeObject[] {
  const h100 = gptOss.gpuProduct
  return [
    ...['team-a', 'team-b', systemNamespace].map((name) => namespace(name, now)),
    node('gpu-1', now, { gpus: 8, gpuProduct: h100 }),
    node('gpu-2', now, { gpus: 8, gpuProduct: h100 }),
    node('gpu-3', now, { gpus: 8, gpuProduct: kimi.gpuProduct }),
    // Nothing runs here yet: room for what is scaled up or replaced.
    node('gpu-4', now, { gpus: 8, gpuProduct: h100 }),
    node('gpu-lost', now, { gpus: 8, gpuProduct: h100, lostSince: now - 20 * 60_000 }),
    ...siteProfile(systemNamespace, now, slo),
    ...sampleReleases(now),
    ...sampleLlmServices(now),
  ]
}
