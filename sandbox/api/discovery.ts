import type { KindDef } from './kinds.ts'
import type { Registry } from './registry.ts'

const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']

interface ResourceEntry {
  name: string
  singularName: string
  namespaced: boolean
  group?: string
  version?: string
  kind: string
  verbs: string[]
  shortNames?: string[]
  categories?: string[]
}

/** Reviews are created and answered, never stored. */
const reviews: Record<string, ResourceEntry[]> = {
  'authentication.k8s.io/v1': [
    review('selfsubjectreviews', 'SelfSubjectReview'),
    review('tokenreviews', 'TokenReview'),
  ],
  'authorization.k8s.io/v1': [review('selfsubjectaccessreviews', 'SelfSubjectAccessReview')],
}

function review(name: string, kind: string): ResourceEntry {
  return { name, singularName: kind.toLowerCase(), namespaced: false, kind, verbs: ['create'] }
}

/** `GET /version`: the version whose behaviour this server follows. */
export const version = {
  major: '1',
  minor: '36',
  gitVersion: 'v1.36.3',
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: '',
  compiler: '',
  platform: 'sandbox',
}

/** The answer to a discovery path, or undefined when nothing is served there. */
export function discover(registry: Registry, pathname: string, aggregated: boolean): unknown {
  const [root, group, groupVersion, ...more] = pathname.split('/').filter((part) => part !== '')
  if (more.length > 0) return undefined
  if (root === 'api') {
    if (group === undefined) return aggregated ? aggregate(registry, true) : coreVersions
    return group === 'v1' && groupVersion === undefined ? resourceList(registry, '', 'v1') : undefined
  }
  if (root !== 'apis') return undefined
  if (group === undefined) return aggregated ? aggregate(registry, false) : groupList(registry)
  const found = groups(registry).find((one) => one.name === group)
  if (found === undefined) return undefined
  if (groupVersion === undefined) return { kind: 'APIGroup', apiVersion: 'v1', ...found }
  const served = found.versions.some((one) => one.version === groupVersion)
  return served ? resourceList(registry, group, groupVersion) : undefined
}

const coreVersions = {
  kind: 'APIVersions',
  versions: ['v1'],
  serverAddressByClientCIDRs: [],
}

interface GroupEntry {
  name: string
  versions: { groupVersion: string; version: string }[]
  preferredVersion: { groupVersion: string; version: string }
}

function groups(registry: Registry): GroupEntry[] {
  const groupVersions = new Set(Object.keys(reviews))
  for (const def of registry.servedKinds()) {
    if (def.group !== '') groupVersions.add(`${def.group}/${def.version}`)
  }
  const byName = new Map<string, GroupEntry>()
  for (const groupVersion of groupVersions) {
    const [name = '', one = ''] = groupVersion.split('/')
    const entry = { groupVersion, version: one }
    const known = byName.get(name)
    if (known === undefined) byName.set(name, { name, versions: [entry], preferredVersion: entry })
    else known.versions.push(entry)
  }
  return [...byName.values()]
}

function groupList(registry: Registry): unknown {
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups(registry) }
}

function resourceList(registry: Registry, group: string, versionName: string): unknown {
  const groupVersion = group === '' ? versionName : `${group}/${versionName}`
  const resources = [...(reviews[groupVersion] ?? [])]
  for (const def of kindsOf(registry, group, versionName)) resources.push(...entriesOf(def))
  return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources }
}

function kindsOf(registry: Registry, group: string, versionName: string): KindDef[] {
  return registry.servedKinds().filter((def) => def.group === group && def.version === versionName)
}

function entriesOf(def: KindDef): ResourceEntry[] {
  const main: ResourceEntry = {
    name: def.plural,
    singularName: def.singular,
    namespaced: def.namespaced,
    kind: def.kind,
    verbs,
  }
  if (def.shortNames.length > 0) main.shortNames = def.shortNames
  if (inAll.includes(def.kind)) main.categories = ['all']
  return [main, ...subresourcesOf(def)]
}

function subresourcesOf(def: KindDef): ResourceEntry[] {
  const entry = (name: string, its: string[]): ResourceEntry => ({
    name: `${def.plural}/${name}`,
    singularName: '',
    namespaced: def.namespaced,
    kind: def.kind,
    verbs: its,
  })
  const found: ResourceEntry[] = []
  if (def.kind === 'Namespace') found.push(entry('finalize', ['update']))
  if (def.status) found.push(entry('status', ['get', 'patch', 'update']))
  return found
}

/** What `kubectl get all` means. */
const inAll = ['Pod', 'Service', 'Deployment', 'ReplicaSet', 'StatefulSet', 'Job']

/** `apidiscovery.k8s.io/v2`: everything in one answer, as kubectl asks first. */
function aggregate(registry: Registry, core: boolean): unknown {
  const entries = core
    ? [{ name: '', versions: [{ version: 'v1' }] }]
    : groups(registry).map(({ name, versions }) => ({ name, versions }))
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: entries.map(({ name, versions }) => ({
      metadata: name === '' ? {} : { name },
      versions: versions.map((one) => ({
        version: one.version,
        freshness: 'Current',
        resources: [
          ...(reviews[`${name}/${one.version}`] ?? []).map((entry) =>
            discovered(entry, name, one.version, []),
          ),
          ...kindsOf(registry, name, one.version).map((def) => {
            const [main, ...subresources] = entriesOf(def)
            return discovered(main as ResourceEntry, name, one.version, subresources)
          }),
        ],
      })),
    })),
  }
}

function discovered(
  entry: ResourceEntry,
  group: string,
  versionName: string,
  subs: ResourceEntry[],
): unknown {
  const responseKind = { group, version: versionName, kind: entry.kind }
  const made: Record<string, unknown> = {
    resource: entry.name,
    responseKind,
    scope: entry.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: entry.singularName,
    verbs: entry.verbs,
  }
  if (entry.shortNames !== undefined) made.shortNames = entry.shortNames
  if (entry.categories !== undefined) made.categories = entry.categories
  if (subs.length > 0) {
    made.subresources = subs.map((sub) => ({
      subresource: sub.name.slice(sub.name.indexOf('/') + 1),
      responseKind,
      verbs: sub.verbs,
    }))
  }
  return made
}
