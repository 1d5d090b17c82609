// What the stories ask a gateway and a cluster for, and hold against what should be.
import assert from 'node:assert/strict'
import type { Gateway } from './gateway.ts'
import {
  LIST,
  type ListData,
  type Row,
  RUNS,
  type Run,
  type RunsData,
  UNINSTALL,
  type UninstallAnswer,
  type UninstallData,
} from './queries.ts'
import type { StoryContext } from './story.ts'
import { until } from './wait.ts'

export type Ref = { namespace: string; name: string }

export async function rowsOf(gateway: Gateway, namespace: string): Promise<Row[]> {
  return (await gateway.ask<ListData>(LIST, { ns: namespace })).deployments.nodes
}

export async function rowOf(gateway: Gateway, { namespace, name }: Ref): Promise<Row | undefined> {
  return (await rowsOf(gateway, namespace)).find((row) => row.name === name)
}

/** The mutation, whatever it answers. */
export async function askUninstall(
  gateway: Gateway,
  ref: Ref,
  more: Record<string, unknown> = {},
): Promise<UninstallAnswer> {
  return (await gateway.ask<UninstallData>(UNINSTALL, { input: { ...ref, ...more } })).uninstallRelease
}

/** The mutation, which is accepted as the first one. */
export async function uninstallIt(
  gateway: Gateway,
  ref: Ref,
  more: Record<string, unknown> = {},
): Promise<UninstallAnswer> {
  const answer = await askUninstall(gateway, ref, more)
  assert.equal(answer.__typename, 'UninstallReleasePayload', JSON.stringify(answer))
  assert.equal(answer.alreadyInProgress, false)
  return answer
}

/** The row, once `look` says that it is as it should be. */
export async function rowBecomes(
  context: StoryContext,
  gateway: Gateway,
  ref: Ref,
  what: string,
  look: (row: Row) => boolean,
): Promise<Row> {
  let last: Row | undefined
  try {
    return await until(`the row of ${ref.name}: ${what}`, 120_000, async () => {
      context.cluster.check()
      last = await rowOf(gateway, ref)
      return last !== undefined && look(last) ? last : undefined
    })
  } catch (error) {
    throw new Error(`${(error as Error).message}; the row at last: ${JSON.stringify(last)}`)
  }
}

/** Nothing in the namespace that was not there before. Kubernetes' garbage collector may take a moment. */
export async function leavesNothing(
  context: StoryContext,
  namespace: string,
  before: readonly string[],
): Promise<void> {
  await until('the namespace is as it was before', 120_000, async () => {
    const left = (await context.cluster.kube.everythingIn(namespace)).filter((o) => !before.includes(o))
    if (left.length > 0) throw new Error(`left: ${left.join(', ')}`)
    return true
  })
}

export async function runsOf(gateway: Gateway, { namespace, name }: Ref): Promise<Run[]> {
  const { runs } = await gateway.ask<RunsData>(RUNS, { ns: namespace, name })
  assert.equal(runs.available, true, 'the audit log cannot be read')
  return runs.nodes
}

/** One run in all, of an uninstall that has gone well. */
export async function isAuditedOnce(gateway: Gateway, ref: Ref, expected: Partial<Run> = {}): Promise<Run> {
  const runs = await until('the run is closed', 60_000, async () => {
    const all = await runsOf(gateway, ref)
    return all.length > 0 && all.every((r) => r.outcome !== 'STARTED') ? all : undefined
  })
  const [run, ...others] = runs
  assert(run)
  assert.deepEqual(others, [], 'runs more than one')
  assert.deepEqual(
    { ...run, ...{ action: 'UNINSTALL', outcome: 'SUCCEEDED', error: null }, ...expected },
    run,
    'the run',
  )
  assert.notEqual(run.endedAt, null)
  return run
}
