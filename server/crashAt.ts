import type { Checkpoint } from '../services/runtime/checkpoint.ts'

/**
 * For tests of crashes: `SWISS_CRASH_AT=before-plan-delete` ends the process at that point of the next uninstall
 * that comes by, as `kill -9` does. Undefined, and no price, where it is not asked for.
 */
export function crashAt(env: NodeJS.ProcessEnv): Checkpoint | undefined {
  const at = env.SWISS_CRASH_AT
  if (!at) return undefined
  return (name) => {
    if (name !== at) return Promise.resolve()
    process.kill(process.pid, 'SIGKILL')
    return new Promise(() => {})
  }
}
