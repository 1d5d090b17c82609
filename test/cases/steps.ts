import type { Fault, KubeObject, ObjectRef } from '../../sandbox/api/types.ts'
import { awaitAnswer, mutate, send } from './asking.ts'
import { runCheck } from './checks.ts'
import { CaseFailure } from './failure.ts'
import { firstGateway } from './gateways.ts'
import { type Json, mapStrings } from './json.ts'
import { withPatience } from './quiet.ts'
import { durationMs, objectRef } from './refs.ts'
import {
  type ClusterStep,
  type FaultRule,
  isClusterStep,
  isMutationStep,
  type MutationStep,
  type Step,
} from './stepFormat.ts'
import type { World } from './world.ts'

/** Does one step and waits until all that follows from it has happened. */
export async function runStep(world: World, written: Step): Promise<void> {
  const step = withSaved(world, written)
  if (isClusterStep(step)) doClusterStep(world, step)
  else if (isMutationStep(step)) await mutate(world, step)
  else await doStep(world, step)
  await world.settle()
}

/** A whole scalar `$NAME` stands for what was saved under NAME; nothing inside a text is touched. */
function withSaved(world: World, step: Step): Step {
  if (world.saved.size === 0) return step
  return mapStrings(step as unknown as Json, (text) =>
    text.startsWith('$') ? (world.saved.get(text.slice(1)) ?? text) : text,
  ) as unknown as Step
}

async function doStep(world: World, step: Exclude<Step, ClusterStep | MutationStep>): Promise<void> {
  const { api, gateways } = world
  switch (step.key) {
    case 'graphql':
      return send(world, step)
    case 'await':
      return awaitAnswer(world, step)
    case 'check':
      return runCheck(world, step)
    case 'advance':
      return world.clock.advance(durationMs(step.value) ?? 0, () => world.settleWork())
    case 'tick':
      return tick(world, step.value, step.on)
    case 'restart':
      return restart(world, step.on ?? firstGateway)
    case 'replica':
      if (gateways.knows(step.value)) throw new Error(`there is a gateway ${step.value} already`)
      return gateways.start(step.value)
    case 'subscribe': {
      const { id, document: query, variables } = step.value
      return world.subscribe(id, { query, ...(variables ? { variables } : {}) }, world.up(step.on), step.as)
    }
    case 'kill': {
      const { name } = world.up(step.on)
      if (step.value.at === 'now') gateways.kill(name)
      else gateways.arm(name, step.value.at)
      break
    }
    case 'metrics':
      if (!world.prometheus) throw new Error('there is no Prometheus: config says `prometheus: true`')
      return world.prometheus.set(step.value)
    case 'sandboxHelm':
      world.helm.set(step.value)
      break
    case 'fault':
      if (step.value === 'clear') api.clearFaults()
      else armFault(world, step.value)
      break
  }
}

function doClusterStep({ api }: World, step: ClusterStep): void {
  const { store } = api
  switch (step.key) {
    case 'crds':
      api.setServed(step.value)
      break
    case 'create':
    case 'replace':
      store[step.key](step.value as KubeObject)
      break
    case 'patch':
      store.patch(refOf(step.value), step.with)
      break
    case 'delete':
    case 'remove':
      store[step.key](refOf(step.value))
      break
  }
}

function refOf(text: string): ObjectRef {
  const ref = objectRef(text)
  if (!ref) throw new Error(`${text} is not Kind/namespace/name`)
  return ref
}

function armFault(world: World, { first, ...rule }: FaultRule): void {
  const before = () => {
    try {
      for (const step of first ?? []) doClusterStep(world, step)
    } catch (error) {
      // A mistake of the case, which must not look like one of the API server.
      world.fail(error)
    }
  }
  world.api.fault({ ...(rule as Fault), ...(first ? { first: before } : {}) })
}

/** A pass of a loop; of a gateway that is down, nothing. */
async function tick(world: World, loop: 'reap' | 'autoscale', on = firstGateway): Promise<void> {
  const running = world.gateways.get(on)
  if (!running) {
    if (!world.gateways.knows(on)) throw new Error(`there is no gateway ${on}`)
    return
  }
  await withPatience(`tick ${loop}`, Promise.race([running.gateway.tick(loop), running.died]), () =>
    world.busy(),
  )
}

async function restart(world: World, name: string): Promise<void> {
  if (!world.gateways.knows(name)) throw new Error(`there is no gateway ${name}`)
  const missed = world.gateways.disarm(name)
  if (missed !== undefined) throw new CaseFailure(`kill: gateway ${name} has never come to ${missed}`)
  world.gateways.kill(name)
  // Its helm runs end with it; two generations must not be seen at once.
  await world.settleWork()
  await world.gateways.start(name)
}
