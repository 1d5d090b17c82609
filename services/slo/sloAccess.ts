/** Where the SLO service is and what it is asked with: from the site profile and a Secret (contract, section 9). */
import type { KubeClient } from '../cluster/client.ts'
import { isKubeError } from '../cluster/errors.ts'
import { type Kind, Kinds, type KubeObject, type ObjectRef } from '../cluster/kinds.ts'
import { mapAt, textAt } from '../plans/document.ts'
import { readYamlMap } from '../plans/yaml.ts'

/** The ConfigMap that holds the site profile, in the gateway's namespace, and its key. */
const SITE_PROFILE = 'swiss-site'
const PROFILE_KEY = 'profile.yaml'
const DEFAULT_ADDRESS = 'http://slo-api.llm-scaler.svc:80'

export interface SloAccess {
  /** Without a slash at its end. */
  address: string
  token: string
}

/** The access, or one sentence that says what is missing. */
export type SloAccessReading = { access: SloAccess } | { missing: string }

/** Reads both anew, so that a changed profile or token needs no restart. Throws KubeError; it never says the token. */
export async function readSloAccess(
  client: Pick<KubeClient, 'get'>,
  gatewayNamespace: string,
): Promise<SloAccessReading> {
  const where = `${PROFILE_KEY} in the ConfigMap ${gatewayNamespace}/${SITE_PROFILE}`
  const map = await find(client, Kinds.ConfigMap, { namespace: gatewayNamespace, name: SITE_PROFILE })
  const text = (map?.data as Record<string, unknown> | undefined)?.[PROFILE_KEY]
  const reading = readYamlMap(typeof text === 'string' ? text : '')
  if (!reading.ok) return { missing: `${where} ${reading.reason}` }
  const scaler = mapAt(reading.value, 'scaler')

  const address = (textAt(scaler, 'sloAddress') ?? DEFAULT_ADDRESS).replace(/\/+$/, '')
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol)) {
    return { missing: `scaler.sloAddress of ${where} is no http address` }
  }
  const secretName = textAt(scaler, 'sloTokenSecret')
  if (secretName === null) {
    return {
      missing: `there is no token for the SLO service: scaler.sloTokenSecret of ${where} names no Secret`,
    }
  }
  const key = textAt(scaler, 'sloTokenKey') ?? 'token'
  const ref = secretRef(secretName, gatewayNamespace)
  const secret = ref && (await find(client, Kinds.Secret, ref))
  const encoded = (secret?.data as Record<string, unknown> | undefined)?.[key]
  const token = typeof encoded === 'string' ? Buffer.from(encoded, 'base64').toString('utf8').trim() : ''
  // What a header cannot carry is no token.
  if (!/^[\x21-\x7e]+$/.test(token)) {
    return {
      missing: `there is no token for the SLO service: the Secret ${secretName} has none under ${key}`,
    }
  }
  return { access: { address, token } }
}

/** `ns/name`, or a name in the gateway's namespace; null for what names no object. */
function secretRef(text: string, gatewayNamespace: string): { namespace: string; name: string } | null {
  const [, namespace = gatewayNamespace, name] = /^(?:([^/]+)\/)?([^/]+)$/.exec(text) ?? []
  return name === undefined ? null : { namespace, name }
}

async function find(client: Pick<KubeClient, 'get'>, kind: Kind, ref: ObjectRef): Promise<KubeObject | null> {
  try {
    return await client.get(kind, ref)
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return null
    throw error
  }
}
