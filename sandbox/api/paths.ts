/** A path under `/api` or `/apis`, taken apart. Members that the path does not say are empty. */
export interface ResourcePath {
  group: string
  version: string
  namespace: string
  plural: string
  name: string
  subresource: string
}

// These come after `namespaces/<name>` and are not kinds.
const namespaceSubresources = ['status', 'finalize']

/** Reads the path of a resource, `/api/v1/…` or `/apis/<group>/<version>/…`; undefined when it is none. */
export function readResourcePath(pathname: string): ResourcePath | undefined {
  const parts = decoded(pathname)
  if (parts === undefined) return undefined
  const core = parts[0] === 'api'
  if (!core && parts[0] !== 'apis') return undefined
  const group = core ? '' : (parts[1] ?? '')
  const version = parts[core ? 1 : 2] ?? ''
  const rest = parts.slice(core ? 2 : 3)
  if (version === '' || rest.length === 0 || rest.length > 5) return undefined
  const inNamespace =
    rest[0] === 'namespaces' && rest.length > 2 && !namespaceSubresources.includes(rest[2] ?? '')
  const [plural = '', name = '', subresource = '', extra] = inNamespace ? rest.slice(2) : rest
  if (plural === '' || extra !== undefined) return undefined
  return { group, version, namespace: inNamespace ? (rest[1] ?? '') : '', plural, name, subresource }
}

function decoded(pathname: string): string[] | undefined {
  try {
    return pathname
      .split('/')
      .slice(1)
      .map((part) => decodeURIComponent(part))
  } catch {
    return undefined
  }
}

/** The verb of a call, as authorisation and audit know it; undefined for a method that has none here. */
export function verbOf(method: string, path: ResourcePath, watch: boolean): string | undefined {
  const named = path.name !== ''
  switch (method) {
    case 'GET':
    case 'HEAD':
      return named ? 'get' : watch ? 'watch' : 'list'
    case 'POST':
      return named ? undefined : 'create'
    case 'PUT':
      return named ? 'update' : undefined
    case 'PATCH':
      return named ? 'patch' : undefined
    case 'DELETE':
      return named ? 'delete' : 'deletecollection'
    default:
      return undefined
  }
}
