/** Going back to an earlier revision of an LLMService: its operator keeps a snapshot of each (contract, 1.5). */
import { isDeepStrictEqual } from 'node:util'
import type { KubeClient } from '../cluster/client.ts'
import { isKubeError } from '../cluster/errors.ts'
import { Kinds, type KubeObject } from '../cluster/kinds.ts'
import { type LLMServiceObject, SERVICE_LABEL } from '../deployments/llmService.ts'
import type { ReleaseRef } from '../deployments/row.ts'
import type { PlanData } from '../plans/document.ts'
import { planOfService } from '../plans/servicePlan.ts'
import type { Made } from './operation.ts'
import { noRevision } from './refusals.ts'

const PREFIX = 'swiss.modelsphere.dev/'

interface Snapshot {
  spec: object
  annotations: Record<string, string>
}

/** The LLMService as a revision had it: its spec as a whole and the annotations of Swiss; the rest stays. Throws KubeError. */
export async function serviceOfRevision(
  client: Pick<KubeClient, 'get'>,
  ref: ReleaseRef,
  service: KubeObject,
  revision: number,
  note: string | null,
): Promise<Made> {
  const snapshot = await snapshotOf(client, ref, service, revision)
  if (snapshot === null) return { refusal: noRevision(ref, revision) }
  const annotations = {
    ...pick(service.metadata.annotations ?? {}, (key) => !key.startsWith(PREFIX)),
    ...pick(snapshot.annotations, (key) => key.startsWith(PREFIX) && key !== `${PREFIX}note`),
    [`${PREFIX}action`]: 'rollback',
    ...(note === null ? {} : { [`${PREFIX}note`]: note }),
  }
  if (isDeepStrictEqual(service.spec, snapshot.spec)) return { unchanged: true }
  return {
    service: {
      ...service,
      spec: snapshot.spec,
      metadata: { ...service.metadata, annotations },
    },
    planHash: snapshot.annotations[`${PREFIX}plan-hash`] ?? null,
  }
}

/**
 * The revisions of an LLMService of which something is kept, with the plan that each is. The live one is there
 * in any case. Throws KubeError.
 */
export async function revisionsOfService(
  client: Pick<KubeClient, 'get'>,
  ref: ReleaseRef,
): Promise<{ revision: number; current: boolean; data: PlanData }[]> {
  const service = await client.get<LLMServiceObject>(Kinds.LLMService, ref)
  const { history = [], helm } = service.status ?? {}
  const current = helm?.revision || null
  const numbers = new Set(history.flatMap(({ revision }) => revision ?? []))
  if (current !== null) numbers.add(current)
  const found = await Promise.all(
    [...numbers].map(async (revision) => {
      const isCurrent = revision === current
      const snapshot = await snapshotOf(client, ref, service, revision)
      if (snapshot === null)
        return isCurrent ? [{ revision, current: true, data: planOfService(service) }] : []
      const metadata = { ...service.metadata, annotations: snapshot.annotations }
      return [{ revision, current: isCurrent, data: planOfService({ metadata, spec: snapshot.spec }) }]
    }),
  )
  return found.flat()
}

async function snapshotOf(
  client: Pick<KubeClient, 'get'>,
  { namespace, name }: ReleaseRef,
  service: KubeObject,
  revision: number,
): Promise<Snapshot | null> {
  const history = (service as LLMServiceObject).status?.history ?? []
  const kept = history.find((entry) => entry.revision === revision)?.controllerRevision
  if (!kept) return null
  try {
    const found = await client.get(Kinds.ControllerRevision, { namespace, name: kept })
    if (found.metadata.labels?.[SERVICE_LABEL] !== name) return null
    const { spec, annotations } = (found.data ?? {}) as Partial<Snapshot>
    if (typeof spec !== 'object' || spec === null) return null
    return { spec, annotations: annotations ?? {} }
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return null
    throw error
  }
}

const pick = (map: Readonly<Record<string, string>>, takes: (key: string) => boolean) =>
  Object.fromEntries(Object.entries(map).filter(([key]) => takes(key)))
