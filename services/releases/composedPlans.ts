/** Composed plans, kept for an hour in Secrets of the gateway's namespace, so that any replica finds them (contract, 1.3a). */
import type { Actor } from '../auth/actor.ts'
import type { KubeClient } from '../cluster/client.ts'
import { isKubeError } from '../cluster/errors.ts'
import { Kinds, type KubeObject } from '../cluster/kinds.ts'
import type { ReleaseRef } from '../deployments/row.ts'
import { archiveData } from '../plans/archives.ts'
import { mapAt, type PlanData, textAt } from '../plans/document.ts'
import { MANAGED_BY, MANAGED_BY_LABEL, TRACKING_LABEL } from '../plans/names.ts'
import { readYamlMap, writeYaml } from '../plans/yaml.ts'

const HOUR_MS = 3_600_000
/** Removed in one pass, so that a pass stays short. */
const REMOVED_A_PASS = 50
const REMOVE_EVERY_MS = 60_000
const TRIES = 5

const TRACKING_COMPOSED = 'composed'
/** When it was composed last, RFC 3339: what expires is found without reading any plan. */
const COMPOSED_AT = 'swiss.modelsphere.dev/composed-at'
/** Beside the texts of the plan: what it is bound to. */
const BINDING_KEY = 'composed.yaml'

export interface ComposedPlan {
  hash: string
  release: ReleaseRef
  data: PlanData
}

export interface FoundPlan extends ComposedPlan {
  /** Names of those who have composed it within the hour. */
  actors: string[]
}

export interface ComposedPlansOptions {
  client: KubeClient
  /** The gateway's own. */
  namespace: string
}

export class ComposedPlans {
  readonly #client: KubeClient
  readonly #namespace: string
  #removeAt: number

  constructor({ client, namespace }: ComposedPlansOptions) {
    this.#client = client
    this.#namespace = namespace
    this.#removeAt = client.now() + REMOVE_EVERY_MS
  }

  /** Keeps a plan for an hour from now, for this caller beside others who have composed the same. Throws KubeError. */
  async put(plan: ComposedPlan, actor: Actor): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const before = await this.#read(plan.hash)
      try {
        return await this.#write(plan, actor, before)
      } catch (error) {
        // Another request or replica composes the same, or the leader has just removed it.
        if (!isKubeError(error, 'Conflict', 'AlreadyExists', 'NotFound') || attempt >= TRIES) throw error
      }
    }
  }

  /** A plan by its whole hash; null when there is none, or its hour is over. Throws KubeError. */
  async find(hash: string): Promise<FoundPlan | null> {
    const secret = await this.#read(hash)
    return secret && this.#found(secret, hash)
  }

  /** Removes plans whose hour is over, as far as that goes now; looks once a minute however often it is called. */
  async removeExpired(): Promise<void> {
    const now = this.#client.now()
    if (now < this.#removeAt) return
    this.#removeAt = now + REMOVE_EVERY_MS
    try {
      await this.#removeSome()
    } catch (error) {
      // They expire by themselves: nobody finds one that is too old, and the next look removes it.
      if (!isKubeError(error)) throw error
    }
  }

  async #removeSome(): Promise<void> {
    const { items } = await this.#client.list(Kinds.Secret, {
      namespace: this.#namespace,
      labelSelector: `${TRACKING_LABEL}=${TRACKING_COMPOSED}`,
      metadataOnly: true,
    })
    const expired = items.filter((secret) => isNamed(secret.metadata.name) && this.#isExpired(secret))
    for (const { metadata } of expired.slice(0, REMOVED_A_PASS)) {
      const { name, uid, resourceVersion } = metadata
      try {
        const preconditions = { uid, resourceVersion }
        await this.#client.delete(Kinds.Secret, { namespace: this.#namespace, name }, { preconditions })
      } catch (error) {
        // Composed again in this moment: then it is not expired any more.
        if (!isKubeError(error, 'NotFound', 'Conflict')) throw error
      }
    }
  }

  async #read(hash: string): Promise<KubeObject | null> {
    if (!/^[0-9a-f]{64}$/.test(hash)) return null
    try {
      const ref = { namespace: this.#namespace, name: secretName(hash) }
      return await this.#client.get(Kinds.Secret, ref)
    } catch (error) {
      if (isKubeError(error, 'NotFound')) return null
      throw error
    }
  }

  #found(secret: KubeObject, hash: string): FoundPlan | null {
    if (this.#isExpired(secret)) return null
    const { [BINDING_KEY]: text = '', ...data } = archiveData(secret)
    const binding = readBinding(text)
    return binding?.hash === hash ? { ...binding, data } : null
  }

  async #write({ hash, release, data }: ComposedPlan, actor: Actor, before: KubeObject | null) {
    const others = (before && this.#found(before, hash)?.actors) ?? []
    const binding = { hash, release: { ...release }, actors: [...new Set([...others, actor.name])] }
    const texts = { ...data, [BINDING_KEY]: writeYaml(binding) }
    const secret = {
      type: 'Opaque',
      metadata: {
        ...(before?.metadata ?? { namespace: this.#namespace, name: secretName(hash) }),
        labels: { [MANAGED_BY_LABEL]: MANAGED_BY, [TRACKING_LABEL]: TRACKING_COMPOSED },
        annotations: { [COMPOSED_AT]: new Date(this.#client.now()).toISOString() },
      },
      data: Object.fromEntries(
        Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
      ),
    }
    if (before === null) await this.#client.create(Kinds.Secret, secret)
    else
      await this.#client.update(Kinds.Secret, {
        ...secret,
        metadata: { ...before.metadata, ...secret.metadata },
      })
  }

  #isExpired({ metadata }: KubeObject): boolean {
    const at = Date.parse(metadata.annotations?.[COMPOSED_AT] ?? metadata.creationTimestamp ?? '')
    return Number.isNaN(at) || this.#client.now() >= at + HOUR_MS
  }
}

const PREFIX = 'swiss-composed-'
const secretName = (hash: string): string => `${PREFIX}${hash.slice(0, 16)}`
const isNamed = (name: string): boolean => /^swiss-composed-[0-9a-f]{16}$/.test(name)

function readBinding(text: string): Omit<FoundPlan, 'data'> | null {
  const reading = readYamlMap(text)
  if (!reading.ok) return null
  const { hash, actors } = reading.value
  const namespace = textAt(mapAt(reading.value, 'release'), 'namespace')
  const name = textAt(mapAt(reading.value, 'release'), 'name')
  if (typeof hash !== 'string' || namespace === null || name === null || !Array.isArray(actors)) return null
  return { hash, release: { namespace, name }, actors: actors.filter((actor) => typeof actor === 'string') }
}
