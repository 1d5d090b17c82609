import { isDeepStrictEqual } from 'node:util'
import { timestamp } from '../api/times.ts'
import type { KubeClient } from '../client.ts'
import type { Clock } from '../clock.ts'
import { LLM_SERVICE } from '../resourceTypes.ts'
import { Stale } from './errors.ts'
import type { Condition, LlmService, ServiceStatus } from './llmService.ts'

/** What every part of the operator works with. */
export interface Context {
  client: KubeClient
  clock: Clock
}

/** The LLMService, live; undefined when there is none. */
export async function readService(
  { client }: Context,
  namespace: string,
  name: string,
): Promise<LlmService | undefined> {
  return client.get(LLM_SERVICE, namespace, name)
}

/** Throws Stale unless the very object is still there with the same spec, and being deleted or not as before. */
export async function confirm(context: Context, service: LlmService): Promise<void> {
  const { namespace = '', name, uid, generation } = service.metadata
  const live = await readService(context, namespace, name)
  // Being deleted makes a new generation as well.
  if (live?.metadata.uid !== uid || live?.metadata.generation !== generation) {
    throw new Stale(`LLMService ${namespace}/${name}`)
  }
}

/** Writes the status in the place of the one that was read; nothing when it is the same. Answers with the object. */
export async function writeStatus(
  { client }: Context,
  service: LlmService,
  status: ServiceStatus,
): Promise<LlmService> {
  // Fields that are undefined are absent.
  const next = JSON.parse(JSON.stringify(status)) as ServiceStatus
  if (isDeepStrictEqual(next, service.status)) return service
  return client.replace(LLM_SERVICE, { ...service, status: next }, 'status')
}

/** The conditions with one Ready among them; its time moves with its status only. */
export function withReady(
  { status }: LlmService,
  ready: Pick<Condition, 'status' | 'reason' | 'message'>,
  now: number,
): Condition[] {
  const known = status?.conditions ?? []
  const before = known.find((it) => it.type === 'Ready')
  const lastTransitionTime = before?.status === ready.status ? before.lastTransitionTime : timestamp(now)
  return [...known.filter((it) => it.type !== 'Ready'), { type: 'Ready', ...ready, lastTransitionTime }]
}
