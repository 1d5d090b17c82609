import { locateChart } from '../charts/locate.ts'
import { chartDefaults, renderChart } from '../charts/render.ts'
import { withChartDefaults } from '../charts/values.ts'
import type { KubeClient } from '../client.ts'
import { NAMESPACE } from '../resourceTypes.ts'
import { helmRelease, type Revision } from '../samples/helmRelease.ts'
import { planObjects } from './applyObjects.ts'
import type { CommandLine } from './arguments.ts'
import type { Behaviour } from './control.ts'
import { deployObjects, record } from './deploy.ts'
import type { HelmCluster } from './environment.ts'
import { HelmError } from './helmError.ts'
import { goTimestamp, type HelmRelease } from './payload.ts'
import { statusText } from './readCommands.ts'
import { isReleaseName } from './releaseName.ts'
import { createStorage, type StoredRelease } from './storage.ts'
import { troubleOf } from './trouble.ts'
import { readValueFiles } from './valueFiles.ts'

/** As many revisions as helm keeps unless `--history-max` says otherwise. */
const usualHistory = 10

export const historyMax = ({ flags }: CommandLine) => Number(flags.get('history-max') ?? usualHistory)

/**
 * `helm upgrade [--install]` as helm 4.3 does it, without waiting for pods: a pending record first, the objects
 * that change, then the record `deployed` and the one before it `superseded`, or this one `failed`. Answers with
 * what helm prints. Throws HelmError.
 *
 * @param behaviour a test's: only the records are written then, unless it says `objects`, and every chart is known
 */
export async function upgrade(
  { client, namespace }: HelmCluster,
  line: CommandLine,
  behaviour: Behaviour | undefined,
): Promise<string> {
  const { flags, positional } = line
  const [name = '', reference = ''] = positional
  // With --install the history is asked for first, which looks at the name.
  if (flags.has('install') && !isReleaseName(name)) throw new HelmError(`release name is invalid: ${name}`)
  const storage = createStorage(client, namespace)
  const history = (await storage.history(name)) ?? []
  const last = history.at(-1)
  const isInstall = flags.has('install') && (!last || last.release.info.status === 'uninstalled')
  const withObjects = !behaviour || behaviour.objects === true
  const chart = locate(reference, line, !withObjects)
  const config = await readValueFiles(line.all('values'))
  if (!isReleaseName(name)) throw new HelmError(`UPGRADE FAILED: release name is invalid: ${name}`)
  const before = isInstall ? undefined : currentOf(name, history)
  const next = nextRevision(
    { namespace, name, revision: (last?.release.version ?? 0) + 1, config },
    chart,
    before?.release,
  )
  if (!withObjects) next.manifest = ''
  const failed = (error: unknown) =>
    new HelmError(`${isInstall ? '' : 'UPGRADE FAILED: '}${(error as Error).message}`)
  try {
    const current = before?.release ?? null
    const steps = withObjects
      ? await planObjects(client, current, next, isInstall ? 'install' : 'update')
      : []
    if (isInstall && flags.has('create-namespace')) await createNamespace(client, namespace)
    const stored = await storage.create(next, foreignLabels(last), historyMax(line))
    try {
      const trouble = troubleOf(config, behaviour)
      const action = isInstall ? 'install' : 'upgrade'
      await deployObjects(storage, stored, steps, action, { trouble, noHooks: flags.has('no-hooks') })
    } catch (error) {
      const { message } = error as Error
      const description = isInstall
        ? `Release "${name}" failed: ${message}`
        : `Upgrade "${name}" failed: ${message}`
      await record(storage, stored, { status: 'failed', description })
      throw error
    }
    if (before) await record(storage, before, { status: 'superseded' })
    const complete = isInstall ? 'Install complete' : 'Upgrade complete'
    await record(storage, stored, { status: 'deployed', description: flags.get('description') ?? complete })
  } catch (error) {
    throw failed(error)
  }
  const said = isInstall
    ? `Release "${name}" does not exist. Installing it now.`
    : `Release "${name}" has been upgraded. Happy Helming!`
  return `${said}\n${statusText(next)}`
}

/** The revision as it is written first: pending, with everything rendered. */
function nextRevision(
  of: Pick<Revision, 'namespace' | 'name' | 'revision' | 'config'>,
  chart: { name: string; version: string },
  before: HelmRelease | undefined,
): HelmRelease {
  const now = goTimestamp(Date.now())
  return helmRelease({
    ...of,
    ...renderChart(of, chart, withChartDefaults(chartDefaults, of.config)),
    // Hooks come with a chart's templates, and there are none of these: those of the chart's last revision stay.
    hooks: hooksOf(before, chart.name),
    status: before ? 'pending-upgrade' : 'pending-install',
    description: before ? 'Preparing upgrade' : 'Initial install underway',
    firstDeployed: before?.info.first_deployed ?? now,
    lastDeployed: now,
  })
}

function locate(reference: string, { flags }: CommandLine, anyName: boolean) {
  try {
    return locateChart(reference, { version: flags.get('version'), repo: flags.get('repo'), anyName })
  } catch (error) {
    throw new HelmError((error as Error).message)
  }
}

/** The revision whose objects run: the deployed one, else the last if it has failed. Throws as helm does. */
function currentOf(name: string, history: StoredRelease[]): StoredRelease {
  const last = history.at(-1)
  const status = last?.release.info.status
  if (status?.startsWith('pending-')) {
    throw new HelmError('UPGRADE FAILED: another operation (install/upgrade/rollback) is in progress')
  }
  const deployed = history.filter(({ release }) => release.info.status === 'deployed').at(-1)
  if (deployed) return deployed
  if (last && (status === 'failed' || status === 'superseded')) return last
  throw new HelmError(`UPGRADE FAILED: "${name}" has no deployed releases`)
}

const hooksOf = (before: HelmRelease | undefined, chart: string) =>
  before?.chart?.metadata.name === chart
    ? (before.hooks ?? []).map((hook) => ({ ...hook, last_run: { phase: '' } }))
    : []

const systemLabels = ['name', 'owner', 'status', 'version', 'createdAt', 'modifiedAt']

/** Labels that somebody has given a release stay with it. */
export const foreignLabels = (stored: StoredRelease | undefined) =>
  Object.fromEntries(
    Object.entries(stored?.secret.metadata.labels ?? {}).filter(([key]) => !systemLabels.includes(key)),
  )

async function createNamespace(client: KubeClient, namespace: string): Promise<void> {
  if (await client.get(NAMESPACE, '', namespace)) return
  const metadata = { name: namespace, labels: { name: namespace } }
  await client.create(NAMESPACE, { apiVersion: 'v1', kind: 'Namespace', metadata }, '')
}
