/**
 * Decisions, written beside their policy. Every write names the very state it was made from, so that one of a
 * gateway that has lost the lead, or for a release that has left, is not taken; nothing is ever made anew here.
 */
import { type AutoscaleObject, autoscaleObject } from '../autoscale/autoscale.ts'
import type { Decision } from '../autoscale/decide.ts'
import { saysTheSame, writeDecision } from '../autoscale/lastDecision.ts'
import type { KubeClient } from '../cluster/client.ts'
import { isKubeError } from '../cluster/errors.ts'
import { Kinds } from '../cluster/kinds.ts'
import type { AutoscalePolicies } from '../deployments/autoscalePolicies.ts'
import type { ReleaseRef } from '../deployments/row.ts'
import { STATUS_KEY } from '../plans/document.ts'
import { rfc3339 } from '../plans/status.ts'
import type { Logger } from '../runtime/logger.ts'

/** A decision that says the same as the last one is written again after this time only: it says that somebody still looks. */
const REPEAT_MS = 60_000
/** Writes of a decision that has been applied, over a fresh read each. */
const ATTEMPTS = 5

export class AutoscaleWrites {
  readonly #client: KubeClient
  readonly #policies: AutoscalePolicies
  readonly #logger: Logger

  constructor(options: { client: KubeClient; policies: AutoscalePolicies; logger: Logger }) {
    this.#client = options.client
    this.#policies = options.policies
    this.#logger = options.logger
  }

  /** Notes a decision that has changed nothing. Where it meets another writer, the next one will do. */
  async note(ref: ReleaseRef, decision: Decision): Promise<void> {
    const object = this.#policies.get(ref)
    if (object === null) return
    const age = this.#client.now() - Date.parse(object.last.at ?? '')
    if (saysTheSame(object.last, decision) && age >= 0 && age < REPEAT_MS) return
    await this.#logged(ref, () => this.#write(object, decision, object.last.lastScaledAt))
  }

  /** Notes, before it happens, that the release is scaled; false when somebody has written there meanwhile. Throws KubeError. */
  claim(object: AutoscaleObject, decision: Decision): Promise<boolean> {
    return this.#write(object, decision, rfc3339(this.#client.now()))
  }

  /** Notes what came of a change that was claimed. */
  async scaled(ref: ReleaseRef, decision: Decision, lastScaledAt: 'now' | string | null): Promise<void> {
    await this.#logged(ref, async () => {
      let object = this.#policies.get(ref)
      for (let attempt = 1; object !== null && attempt <= ATTEMPTS; attempt++) {
        const at = lastScaledAt === 'now' ? rfc3339(this.#client.now()) : lastScaledAt
        if (await this.#write(object, decision, at)) return
        const { namespace, objectName: name, uid } = object
        const raw = await this.#client.get(Kinds.ConfigMap, { namespace, name })
        object = raw.metadata.uid === uid ? autoscaleObject(raw) : null
      }
    })
  }

  /** False when the object is not the one that was looked at any more. */
  async #write(object: AutoscaleObject, decision: Decision, lastScaledAt: string | null): Promise<boolean> {
    const { namespace, objectName: name, uid, resourceVersion, data } = object
    const status = writeDecision(data, decision, lastScaledAt, this.#client.now())
    const body = { metadata: { uid, resourceVersion }, data: { [STATUS_KEY]: status } }
    try {
      this.#policies.put(await this.#client.patch(Kinds.ConfigMap, { namespace, name }, 'merge', body))
      return true
    } catch (error) {
      // Another uid is `Invalid`; so is an immutable object.
      if (isKubeError(error, 'Conflict', 'Invalid', 'NotFound')) return false
      throw error
    }
  }

  async #logged(ref: ReleaseRef, write: () => Promise<unknown>): Promise<void> {
    try {
      await write()
    } catch (error) {
      if (!isKubeError(error)) throw error
      this.#logger.debug({ err: error, ...ref }, 'a decision of the autoscaler could not be noted')
    }
  }
}
