import { mapOf } from '../charts/values.ts'
import { planObjects } from './applyObjects.ts'
import type { CommandLine } from './arguments.ts'
import type { Behaviour } from './control.ts'
import { deployObjects, HookFailure, record } from './deploy.ts'
import type { HelmCluster } from './environment.ts'
import { HelmError, releaseNotFound } from './helmError.ts'
import { goTimestamp, type HelmRelease } from './payload.ts'
import { isReleaseName } from './releaseName.ts'
import { createStorage } from './storage.ts'
import { troubleOf } from './trouble.ts'
import { foreignLabels, historyMax } from './upgrade.ts'

/**
 * `helm rollback` as helm 4.3 does it: a new revision with chart, values and objects of an earlier one, the last but
 * one when none is named. A pending revision is no obstacle for it: it is how people get out of one.
 *
 * @param behaviour a test's: only the records are written then, unless it says `objects`
 */
export async function rollback(
  { client, namespace }: HelmCluster,
  line: CommandLine,
  behaviour: Behaviour | undefined,
): Promise<string> {
  const { flags, positional } = line
  const [name = '', text = '0'] = positional
  if (!/^[+-]?\d+$/.test(text)) {
    throw new HelmError(
      `could not convert revision to a number: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`,
    )
  }
  if (!isReleaseName(name)) throw new HelmError(`prepareRollback: Release name is invalid: ${name}`)
  if (Number(text) < 0) throw new HelmError('invalid release revision')
  const storage = createStorage(client, namespace)
  const history = (await storage.history(name)) ?? []
  const last = history.at(-1)
  if (!last) throw new HelmError(releaseNotFound)
  const revision = Number(text) || last.release.version - 1
  const target = history.find(({ release }) => release.version === revision)
  if (!target) throw new HelmError(`release has no ${revision} version`)
  const { notes } = target.release.info
  const next: HelmRelease = {
    ...target.release,
    info: {
      ...(last.release.info.first_deployed ? { first_deployed: last.release.info.first_deployed } : {}),
      last_deployed: goTimestamp(Date.now()),
      status: 'pending-rollback',
      description: flags.get('description') ?? `Rollback to ${revision}`,
      ...(notes ? { notes } : {}),
      rollback_revision: revision,
    },
    hooks: (target.release.hooks ?? []).map((hook) => ({ ...hook, last_run: { phase: '' } })),
    version: last.release.version + 1,
  }
  const stored = await storage.create(next, foreignLabels(target), historyMax(line))
  const withObjects = !behaviour || behaviour.objects === true
  const steps = withObjects ? await planObjects(client, last.release, next) : []
  try {
    const trouble = troubleOf(mapOf(next.config), behaviour)
    await deployObjects(storage, stored, steps, 'rollback', { trouble, noHooks: flags.has('no-hooks') })
  } catch (error) {
    // The record stays as it is then, pending: helm writes nothing.
    if (error instanceof HookFailure) throw error
    await record(storage, last, { status: 'superseded' })
    const description = `Rollback "${name}" failed: ${(error as Error).message}`
    await record(storage, stored, { status: 'failed', description })
    throw error
  }
  for (const it of history) {
    if (it.release.info.status === 'deployed') await record(storage, it, { status: 'superseded' })
  }
  await record(storage, stored, { status: 'deployed' })
  return 'Rollback was a success! Happy Helming!\n'
}
