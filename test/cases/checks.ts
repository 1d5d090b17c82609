import type { Check } from './checkFormat.ts'
import { CaseFailure, difference } from './failure.ts'
import type { Json, JsonMap } from './json.ts'
import { checkAnswers } from './queryChecks.ts'
import { objectRef } from './refs.ts'
import type { CheckStep } from './stepFormat.ts'
import type { World } from './world.ts'

/**
 * Compares the world with what a case expects of it and throws one CaseFailure with every difference.
 *
 * What only looks (objects, events, streams, helm's calls, API calls) comes first, then the queries, in one
 * operation: a query of a release that is uninstalling starts a check of it, which must not change what is
 * looked at here.
 */
export async function runCheck(world: World, { value: check, as, on }: CheckStep): Promise<void> {
  const found = [
    ...checkObjects(world, check.objects),
    expected(check.events) && difference('events', check.events, world.lookEvents()),
    ...Object.entries(check.stream ?? {}).map(([id, messages]) =>
      difference(`stream ${id}`, messages, world.lookStream(id)),
    ),
    expected(check.helm) && difference('helm', check.helm, world.helm.look()),
    expected(check.apiCalls) && checkCalls(world, check.apiCalls),
    ...(await checkAnswers(world, check, on, as)),
  ].filter((text) => typeof text === 'string')
  if (found.length > 0) throw new CaseFailure(found.join('\n'))
}

const expected = <T>(value: T | undefined): value is T => value !== undefined

function checkObjects(world: World, check: Check['objects']): (string | undefined)[] {
  const stored = (text: string) => {
    const ref = objectRef(text)
    return ref && world.api.store.get(ref)
  }
  const wanted: JsonMap = {}
  const found: JsonMap = {}
  for (const [refs, state] of [
    [check?.present, 'present'],
    [check?.absent, 'absent'],
  ] as const) {
    for (const ref of refs ?? []) {
      wanted[ref] = state
      found[ref] = stored(ref) ? 'present' : 'absent'
    }
  }
  return [
    difference('objects', wanted, found),
    ...(check?.match ?? []).map(({ ref, ...fields }) =>
      difference(ref, fields, stored(ref) as Json | undefined),
    ),
  ]
}

function checkCalls(world: World, { verb, kind, max }: NonNullable<Check['apiCalls']>): string | undefined {
  const calls = world.lookCalls().filter((call) => call.verb === verb && call.kind === kind)
  if (calls.length <= max) return undefined
  const listed = calls.map((call) => [verb, kind, call.namespace, call.name].filter(Boolean).join(' '))
  return difference('apiCalls', { max, calls: [] }, { max: calls.length, calls: listed })
}
