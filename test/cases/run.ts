import { CaseFailure } from './failure.ts'
import type { Case } from './format.ts'
import type { MakeHouse } from './gateway.ts'
import { runStep } from './steps.ts'
import { World } from './world.ts'

/**
 * Runs one case in a world of its own.
 *
 * @returns what is wrong, for people, with the diff of each difference; undefined when all is as expected
 */
export async function runCase(theCase: Case, makeHouse: MakeHouse): Promise<string | undefined> {
  let world: World
  try {
    world = await World.open(theCase, makeHouse)
  } catch (error) {
    return `given: ${describe(error)}`
  }
  try {
    for (const [index, step] of theCase.steps.entries()) {
      try {
        await runStep(world, step)
      } catch (error) {
        return `steps[${index}] (${step.key}): ${describe(error)}`
      }
    }
    const [missed] = world.gateways.armed
    return missed && `kill: gateway ${missed[0]} has never come to ${missed[1]}`
  } finally {
    await world.close()
  }
}

/** A difference speaks for itself, and so does a refused step; the stack of anything else helps to find a bug. */
function describe(error: unknown): string {
  if (error instanceof CaseFailure) return `\n${error.message}`
  if (!(error instanceof Error)) return String(error)
  return error.name === 'Error' ? error.message : (error.stack ?? error.message)
}
