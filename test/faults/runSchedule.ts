/** Runs one schedule to its end and says which properties were broken. */
import type { Coverage } from './coverage.ts'
import { finish } from './finish.ts'
import type { Schedule, Step } from './schedule.ts'
import { type Plant, type Violation, World } from './world.ts'

export interface Outcome {
  violations: Violation[]
  coverage: Coverage
  /** What the subscribers were told, for whoever has to understand a failure. */
  told: string[]
}

/** Never rejects: what goes wrong while it runs is a violation, too. */
export async function runSchedule(schedule: Schedule, plant: Plant = {}): Promise<Outcome> {
  const world = await World.open(schedule, plant)
  try {
    for (const step of schedule.steps) {
      world.coverage.add(`step/${step.do}`)
      for (const subscriber of world.subscribers.values()) subscriber.away--
      await runStep(world, step)
      if (step.settled) {
        await world.advance(0)
        await world.settle()
      }
    }
    for (const subscriber of world.subscribers.values()) subscriber.away = 0
    await finish(world)
  } catch (error) {
    world.violate('it goes on', error instanceof Error ? (error.stack ?? error.message) : String(error))
  } finally {
    await world.close()
  }
  const told = [...world.subscribers].flatMap(([name, { told }]) => told.map((line) => `${name}: ${line}`))
  return { violations: world.violations, coverage: world.coverage, told }
}

async function runStep(world: World, step: Step): Promise<void> {
  const { api, cluster, rules, helm, lives } = world
  switch (step.do) {
    case 'pods':
    case 'node':
    case 'operator':
    case 'foreign':
      return cluster.do(step)
    case 'uninstall':
      return ask(world, step)
    case 'helm':
      helm.behaviour = step.behaviour
      helm.seconds = step.seconds
      // It is looked for before it is started.
      if (step.behaviour === 'missing') world.coverage.add('helm/missing')
      return
    case 'fault': {
      const { what, times, seconds, on, verb, kind, name } = step
      return rules.add({ on, verb, kind, name, left: times, fault: { what, seconds } })
    }
    case 'between': {
      const { on, verb, kind, name } = step
      return rules.add({ on, verb, kind, name, left: 1, first: () => cluster.do(step.step) })
    }
    case 'watch':
      world.coverage.add(`watch/${step.what}`)
      return api.fault({ verb: 'watch', kind: step.kind, [step.what]: true, times: 1 })
    case 'heal':
      rules.clear()
      api.clearFaults()
      return world.guard.arm()
    case 'crash':
      return lives.arm(step.on, step.at)
    case 'start':
      return world.start(step.on)
    case 'advance':
      return world.advance(step.seconds * 1000)
    case 'tick':
      // A pass that a slow call holds up goes on beside what follows.
      lives
        .get(step.on)
        ?.gateway.tick('reap')
        .catch(() => {})
      return
    case 'read': {
      const life = lives.get(step.on)
      const query = '{ deployments(first: 50) { totalCount } }'
      if (life) lives.ask(life, { query }, 'reader').catch(() => {})
      return
    }
    case 'reconnect':
      world.subscribers.get(step.on)?.leave(step.away)
      return
    case 'crd':
      return api.setServed(step.served ? ['LLMService'] : [])
  }
}

function ask(world: World, step: Extract<Step, { do: 'uninstall' }>): void {
  const release = world.schedule.releases[step.release]
  if (!release) return
  const { on, actor, waitFor, wrong } = step
  const name = wrong === 'name' ? `no-${release.name}` : release.name
  world.ask(
    { release: { namespace: release.namespace, name }, on, note: `request ${step.id}`, actor },
    {
      waitFor,
      ...(wrong === 'revision' && { expectedRevision: 77 }),
      ...(wrong === 'uid' && { expectedUid: 'another-uid' }),
    },
    wrong,
  )
}
