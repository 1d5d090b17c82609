/** Shortens a schedule that fails, by leaving steps out as long as it still fails in the same way. */
import type { Schedule, Step } from './schedule.ts'

/**
 * @param fails whether a schedule breaks the same property
 * @param limitMs real time after which the shortest so far is good enough
 */
export async function shrink(
  schedule: Schedule,
  fails: (schedule: Schedule) => Promise<boolean>,
  limitMs: number,
): Promise<Schedule> {
  const until = performance.now() + limitMs
  let shortest = schedule
  const attempt = async (steps: Step[]): Promise<boolean> => {
    if (performance.now() > until) return false
    const candidate = { ...shortest, steps }
    if (!(await fails(candidate))) return false
    shortest = candidate
    return true
  }
  for (
    let size = Math.ceil(schedule.steps.length / 2);
    size >= 1;
    size = size === 1 ? 0 : Math.ceil(size / 2)
  ) {
    let dropped = true
    while (dropped && performance.now() < until) {
      dropped = false
      for (let at = shortest.steps.length - size; at >= 0; at -= size) {
        const { steps } = shortest
        if (await attempt([...steps.slice(0, at), ...steps.slice(at + size)])) dropped = true
      }
      if (size > 1) break
    }
  }
  return shortest
}
