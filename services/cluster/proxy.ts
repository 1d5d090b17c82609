/** Environment variables, as handed in by whoever starts the gateway. */
export type Environment = Readonly<Record<string, string | undefined>>

/**
 * The proxy a request to `server` goes through, by the variables curl, kubectl and helm read: `HTTPS_PROXY`
 * or `HTTP_PROXY` by the server's scheme, unless `NO_PROXY` names its host (a suffix, `*`, or with a port).
 * Loopback never goes through one, as in Go's net/http.
 */
export function proxyFromEnvironment(server: string, environment: Environment): string | null {
  const url = new URL(server)
  const read = (name: string) => environment[name] || environment[name.toLowerCase()]
  const proxy = read(url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY')
  if (!proxy) return null
  const host = url.hostname.replace(/^\[|\]$/g, '').toLowerCase()
  if (host === 'localhost' || host === '::1' || host.startsWith('127.')) return null
  const port = url.port || (url.protocol === 'https:' ? '443' : '80')
  const excluded = (read('NO_PROXY') ?? '')
    .split(',')
    .map((entry) => entry.trim().toLowerCase())
    .some((entry) => entry !== '' && excludes(entry, host, port))
  if (excluded) return null
  return proxy.includes('://') ? proxy : `http://${proxy}`
}

function excludes(entry: string, host: string, port: string): boolean {
  if (entry === '*') return true
  const withPort = /^(?<name>[^:]+):(?<port>\d+)$/.exec(entry)?.groups
  if (withPort && withPort.port !== port) return false
  const name = (withPort?.name ?? entry).replace(/^\*?\./, '')
  return host === name || host.endsWith(`.${name}`) || inRange(host, name)
}

/** IPv4 ranges such as `10.0.0.0/8`, which is how cluster networks are usually excluded. */
function inRange(host: string, range: string): boolean {
  const match = /^(?<base>[\d.]+)\/(?<bits>\d{1,2})$/.exec(range)?.groups
  const address = ipv4(host)
  const base = ipv4(match?.base ?? '')
  const bits = Number(match?.bits)
  if (address === null || base === null || !(bits <= 32)) return false
  const size = 2 ** (32 - bits)
  return Math.floor(address / size) === Math.floor(base / size)
}

function ipv4(text: string): number | null {
  const parts = text.split('.').map(Number)
  if (parts.length !== 4 || parts.some((part) => !Number.isInteger(part) || part < 0 || part > 255))
    return null
  return parts.reduce((sum, part) => sum * 256 + part, 0)
}
