import type { KubeClient } from '../client.ts'
import type { CommandLine } from './arguments.ts'
import { HelmError, releaseNotFound } from './helmError.ts'
import { ansicTime, chartNames, goTime, table } from './output.ts'
import type { HelmRelease } from './payload.ts'
import { createStorage } from './storage.ts'

const states = ['uninstalled', 'superseded', 'uninstalling', 'deployed', 'failed', 'pending']

/** `helm list`: the newest record of each release. */
export async function list(client: KubeClient, namespace: string, { flags }: CommandLine): Promise<string> {
  const where = flags.has('all-namespaces') ? '' : namespace
  const newest = new Map<string, HelmRelease>()
  for (const { release } of await createStorage(client, where).all()) {
    const key = `${release.namespace}/${release.name}`
    if ((newest.get(key)?.version ?? 0) < release.version) newest.set(key, release)
  }
  const filter = flags.has('filter') ? new RegExp(flags.get('filter') ?? '') : undefined
  const wanted = states.filter((state) => flags.has(state))
  const shown = [...newest.values()]
    .filter((release) => !filter || filter.test(release.name))
    .filter(({ info }) => wanted.length === 0 || wanted.some((state) => info.status.startsWith(state)))
    .sort((a, b) => a.name.localeCompare(b.name) || a.namespace.localeCompare(b.namespace))
    .slice(0, Number(flags.get('max') ?? 256) || undefined)
  if (flags.has('short')) {
    const names = shown.map((release) => release.name)
    return format(flags) === 'json' ? json(names) : names.map((name) => `${name}\n`).join('')
  }
  const elements = shown.map((release) => {
    const { chart, appVersion } = chartNames(release)
    return {
      name: release.name,
      namespace: release.namespace,
      revision: String(release.version),
      updated: release.info.last_deployed ? goTime(release.info.last_deployed) : '-',
      status: release.info.status,
      chart,
      app_version: appVersion,
    }
  })
  if (format(flags) === 'json') return json(elements)
  const header = ['NAME', 'NAMESPACE', 'REVISION', 'UPDATED', 'STATUS', 'CHART', 'APP VERSION']
  return table([header, ...elements.map((element) => Object.values(element))])
}

/** `helm status`: the newest record, or the one of `--revision`. */
export async function status(
  client: KubeClient,
  namespace: string,
  { flags, positional }: CommandLine,
): Promise<string> {
  const records = await recordsOf(client, namespace, positional[0] ?? '')
  const revision = Number(flags.get('revision') ?? 0)
  const release = revision === 0 ? records.at(-1) : records.find((it) => it.version === revision)
  if (!release) throw new HelmError(releaseNotFound)
  return format(flags) === 'json' ? json({ ...release, chart: undefined }) : statusText(release)
}

/** What helm prints of a release. */
export function statusText(release: HelmRelease): string {
  const { info } = release
  return [
    `NAME: ${release.name}`,
    ...(info.last_deployed ? [`LAST DEPLOYED: ${ansicTime(info.last_deployed)}`] : []),
    `NAMESPACE: ${release.namespace}`,
    `STATUS: ${info.status}`,
    `REVISION: ${release.version}`,
    `DESCRIPTION: ${info.description ?? ''}`,
    ...(release.hooks?.some((hook) => hook.events.includes('test')) ? [] : ['TEST SUITE: None']),
    ...(info.notes ? ['NOTES:', info.notes.trim()] : []),
    '',
  ].join('\n')
}

/** `helm history`: the last `--max` records, oldest first. */
export async function history(
  client: KubeClient,
  namespace: string,
  { flags, positional }: CommandLine,
): Promise<string> {
  const records = await recordsOf(client, namespace, positional[0] ?? '')
  const elements = records.slice(-Number(flags.get('max') ?? 256)).map((release) => ({
    revision: release.version,
    updated: release.info.last_deployed ?? '',
    status: release.info.status,
    ...withAppVersion(chartNames(release)),
    description: release.info.description ?? '',
  }))
  if (format(flags) === 'json') return json(elements)
  const header = ['REVISION', 'UPDATED', 'STATUS', 'CHART', 'APP VERSION', 'DESCRIPTION']
  const rows = elements.map((it) => ({
    ...it,
    revision: String(it.revision),
    updated: ansicTime(it.updated),
  }))
  return table([header, ...rows.map((row) => Object.values(row))])
}

const withAppVersion = ({ chart, appVersion }: { chart: string; appVersion: string }) => ({
  chart,
  app_version: appVersion,
})

async function recordsOf(client: KubeClient, namespace: string, name: string): Promise<HelmRelease[]> {
  const found = await createStorage(client, namespace).history(name)
  if (!found) throw new HelmError(releaseNotFound)
  return found.map((stored) => stored.release)
}

const json = (value: unknown) => `${JSON.stringify(value)}\n`

function format(flags: ReadonlyMap<string, string>): 'table' | 'json' {
  const given = flags.get('output') ?? 'table'
  if (given === 'table' || given === 'json') return given
  throw new HelmError(`invalid argument "${given}" for "-o, --output" flag: invalid format type`)
}
