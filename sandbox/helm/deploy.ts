import type { ObjectStep } from './applyObjects.ts'
import { HelmError } from './helmError.ts'
import { runHooks } from './hooks.ts'
import type { ReleaseStorage, StoredRelease } from './storage.ts'
import { pass, type Trouble } from './trouble.ts'

/** A hook has failed; helm treats it apart in a rollback. */
export class HookFailure extends HelmError {}

/** The status and description of a record, written as helm writes them; that it cannot be is only logged there. */
export async function record(
  storage: ReleaseStorage,
  stored: StoredRelease,
  change: { status?: StoredRelease['release']['info']['status']; description?: string } = {},
): Promise<void> {
  Object.assign(stored.release.info, change)
  await storage.update(stored).catch(() => {})
}

/**
 * Writes the objects of a revision whose record is there: hooks, the objects in order, hooks. Nothing is waited
 * for but the hooks. Throws what goes wrong; which records change then is the caller's.
 */
export async function deployObjects(
  storage: ReleaseStorage,
  stored: StoredRelease,
  steps: ObjectStep[],
  action: 'install' | 'upgrade' | 'rollback',
  { trouble, noHooks }: { trouble: Trouble; noHooks: boolean },
): Promise<void> {
  const hooks = async (when: 'pre' | 'post') => {
    if (noHooks) return
    try {
      await runHooks(stored.release, `${when}-${action}`, () => storage.update(stored))
    } catch (error) {
      throw new HookFailure(`${when}-${action} hooks failed: ${(error as Error).message}`)
    }
  }
  await hooks('pre')
  await pass(trouble, 'before')
  const changing = steps.filter((step) => step.changes)
  const half = changing[Math.ceil(changing.length / 2) - 1]
  for (const step of steps) {
    await step.run()
    if (step === half) await pass(trouble, 'half')
  }
  if (!half) await pass(trouble, 'half')
  await hooks('post')
}
