import type { IncomingHttpHeaders } from 'node:http'
import type { Refusal } from './respond.ts'

/** Whose requests are answered. A web page elsewhere must not reach a gateway on loopback. */
export interface DoorPolicy {
  /** Names that a Host header may carry with our port. */
  names: ReadonlySet<string>
  port: number
  /** Whole Host headers of proxies in front of us, with their port if it is not the usual one. */
  allowedHosts: ReadonlySet<string>
  /** Origins of pages that may call us from elsewhere, `https://console.example.com`. */
  allowedOrigins: ReadonlySet<string>
}

/**
 * Looks at the headers of a request or an upgrade; null when it may come in.
 *
 * Host is checked against DNS rebinding: a page whose name resolves to 127.0.0.1 is same-origin for its
 * browser, and only the name gives it away. Origin is sent with every POST and upgrade of a page. Plain GETs
 * of a page (an image, a script) have none, but browsers say `Sec-Fetch-Site`; only a person who follows a
 * link may come from another site that way, and gets the page with the editor, which cannot be framed.
 */
export function checkDoor(headers: IncomingHttpHeaders, policy: DoorPolicy): Refusal | null {
  const host = headers.host?.toLowerCase() ?? ''
  const known = isOwnHost(host, policy)
  if (!known && !policy.allowedHosts.has(host)) {
    const message = `The Host header ${JSON.stringify(host)} is not an address of this gateway; --allowed-host adds one.`
    return { status: 403, code: 'HOST_NOT_ALLOWED', message }
  }
  const origin = headers.origin?.toLowerCase()
  if (origin !== undefined) {
    if (origin === `http://${host}` || (!known && origin === `https://${host}`)) return null
    if (policy.allowedOrigins.has(origin)) return null
    return strangeOrigin(`pages of ${origin}`)
  }
  const site = headers['sec-fetch-site']
  const followedLink = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document'
  if (site === undefined || site === 'same-origin' || site === 'none' || followedLink) return null
  return strangeOrigin('pages of another origin')
}

function isOwnHost(host: string, { names, port }: DoorPolicy): boolean {
  const at = host.lastIndexOf(':')
  const hasPort = at > host.lastIndexOf(']')
  const name = hasPort ? host.slice(0, at) : host
  return names.has(name) && (hasPort ? host.slice(at + 1) === String(port) : port === 80)
}

const strangeOrigin = (who: string): Refusal => ({
  status: 403,
  code: 'ORIGIN_NOT_ALLOWED',
  message: `This gateway does not answer ${who}; --allowed-origin lets one in.`,
})

/** Names that mean this machine, in a Host header. */
const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]']

/** The names under which a server that listens at `host` may be called. */
export function namesOf(host: string): Set<string> {
  const name = host.includes(':') ? `[${host}]` : host
  return new Set([...LOOPBACK_NAMES, name.toLowerCase()])
}
