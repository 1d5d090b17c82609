import type { KubeClient } from '../client.ts'
import { deleteObjects, type Propagation } from './deleteObjects.ts'
import { HelmError, releaseNotFound } from './helmError.ts'
import { runHooks } from './hooks.ts'
import { goTimestamp } from './payload.ts'
import { isReleaseName } from './releaseName.ts'
import { createStorage, type ReleaseStorage, type StoredRelease } from './storage.ts'

export interface UninstallOptions {
  ignoreNotFound: boolean
  keepHistory: boolean
  noHooks: boolean
  dryRun: boolean
  description: string | undefined
  propagation: Propagation
}

/**
 * Takes a release away as helm 4.3 does: marks the newest record `uninstalling`, runs the hooks, deletes the
 * objects of the manifest without waiting for them, deletes the records, oldest first.
 *
 * Answers with what helm has to say about objects it left alone (empty when there is nothing). Throws HelmError.
 */
export async function uninstall(
  client: KubeClient,
  namespace: string,
  name: string,
  options: UninstallOptions,
): Promise<string> {
  const storage = createStorage(client, namespace)
  const history = await loadHistory(storage, name)
  if (history === null) {
    if (options.ignoreNotFound) return ''
    throw new HelmError(
      options.dryRun ? releaseNotFound : `uninstall: Release not loaded: ${name}: ${releaseNotFound}`,
    )
  }
  const newest = history.at(-1)
  if (!newest) throw new HelmError('no release provided')
  if (options.dryRun) return ''
  const { release } = newest
  if (release.info.status === 'uninstalled') {
    if (options.keepHistory) throw new HelmError(`the release named "${name}" is already deleted`)
    await purge(storage, history)
    return ''
  }

  release.info.status = 'uninstalling'
  release.info.deleted = goTimestamp(Date.now())
  release.info.description = 'Deletion in progress (or silently failed)'
  // helm only logs it when a record cannot be written, and goes on.
  const record = () => storage.update(newest).catch(() => {})
  if (!options.noHooks) await runHooks(release, 'pre-delete', record)
  await record()

  const left = await deleteObjects(client, release, options.propagation).catch(() => {
    throw new HelmError(`failed to delete release: ${name}`)
  })

  const problems: string[] = []
  const collect = (error: unknown) => problems.push((error as Error).message)
  if (!options.noHooks) await runHooks(release, 'post-delete', record).catch(collect)
  release.info.status = 'uninstalled'
  release.info.description = options.description || 'Uninstallation complete'
  if (options.keepHistory) await record()
  else await purge(storage, history).catch(collect)
  if (problems.length > 0) {
    throw new HelmError(`uninstallation completed with ${problems.length} error(s): ${problems.join('; ')}`)
  }
  return left
}

function loadHistory(storage: ReleaseStorage, name: string): Promise<StoredRelease[] | null> {
  if (!isReleaseName(name)) throw new HelmError(`uninstall: Release name is invalid: ${name}`)
  return storage.history(name)
}

/** Deletes the records, oldest first. */
async function purge(storage: ReleaseStorage, history: StoredRelease[]): Promise<void> {
  for (const stored of history) {
    if (!(await storage.remove(stored))) {
      throw new HelmError(`uninstall: Failed to purge the release: ${releaseNotFound}`)
    }
  }
}
