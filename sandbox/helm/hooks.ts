import { HelmError } from './helmError.ts'
import { readHead } from './manifest.ts'
import { goTimestamp, type HelmHook, type HelmRelease } from './payload.ts'

/** On a hook: it takes its time and then fails with this message. */
const failsAnnotation = 'sandbox.swiss/hook-fails'
/** On a hook: how long it takes, in seconds. 2 when absent. */
const secondsAnnotation = 'sandbox.swiss/hook-seconds'

export type HookEvent = `${'pre' | 'post'}-${'install' | 'upgrade' | 'rollback' | 'delete'}`

/**
 * Goes through the hooks of an event as helm does: by weight and name, each recorded as it starts. Nothing is
 * created in the cluster for them; one without the annotation succeeds at once.
 *
 * Throws HelmError when one fails. The record then stays as it was written at the hook's start, which for an
 * uninstall is status `uninstalling` with the hook `Running`: helm does not write it again
 * (pkg/action/uninstall.go and hooks.go of helm 4.3).
 */
export async function runHooks(
  release: HelmRelease,
  event: HookEvent,
  record: () => Promise<void>,
): Promise<void> {
  const hooks = (release.hooks ?? [])
    .filter((hook) => hook.events.includes(event))
    .sort((a, b) => (a.weight ?? 0) - (b.weight ?? 0) || a.name.localeCompare(b.name))
  for (const hook of hooks) {
    hook.last_run = { started_at: goTimestamp(Date.now()), phase: 'Running' }
    await record()
    await runHook(hook, release.namespace)
    hook.last_run = { ...hook.last_run, completed_at: goTimestamp(Date.now()), phase: 'Succeeded' }
  }
}

async function runHook(hook: HelmHook, namespace: string): Promise<void> {
  const { annotations } = readHead(hook.manifest)
  const message = annotations[failsAnnotation]
  if (message === undefined) return
  const seconds = Number(annotations[secondsAnnotation] ?? 2)
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
  throw new HelmError(
    `resource ${hook.kind}/${namespace}/${hook.name} not ready. status: Failed, message: ${message}`,
  )
}
