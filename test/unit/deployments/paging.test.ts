import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { derive } from '../../../services/deployments/derive.ts'
import { InvalidCursor, type OrderField, type PageArgs } from '../../../services/deployments/lister.ts'
import { matches } from '../../../services/deployments/listing.ts'
import { byRelease, comparePlaces, placeOf } from '../../../services/deployments/ordering.ts'
import { countByPhase, cutPage, phaseCounts } from '../../../services/deployments/paging.ts'
import type { DeploymentPhase, Row } from '../../../services/deployments/row.ts'
import { SortedRows } from '../../../services/deployments/sortedRows.ts'
import { inputs, NOW, plan } from './objects.ts'

const base = derive(inputs({ plan: plan('phase: applied\n') }), NOW) as Row
const PHASES: DeploymentPhase[] = ['APPLYING', 'APPLIED', 'FAILED', 'UNINSTALLING', 'UNKNOWN']
const FIELDS: OrderField[] = ['NAMESPACE_NAME', 'NAME', 'UPDATED_AT', 'PHASE', 'UNINSTALLING_SINCE']

const rowsOf = fc.uniqueArray(
  fc.record({
    namespace: fc.constantFrom('a', 'a-b', 'b'),
    name: fc.constantFrom('x', 'x-y', 'x.y', 'y', 'z'),
    phase: fc.constantFrom(...PHASES),
    updatedAt: fc.constantFrom(
      null,
      '2031-01-01T00:00:00Z',
      '2031-01-01T00:00:00.5Z',
      '2031-01-02T00:00:00Z',
    ),
  }),
  { selector: ({ namespace, name }) => `${namespace}/${name}` },
)
const orders = fc.record({ field: fc.constantFrom(...FIELDS), direction: fc.constantFrom('ASC', 'DESC') })

function inOrder(parts: Partial<Row>[], orderBy: PageArgs['orderBy']): Row[] {
  return parts
    .map((part) => ({ ...base, ...part }) as Row)
    .sort((a, b) => comparePlaces(placeOf(a, orderBy.field), placeOf(b, orderBy.field), orderBy))
}

const keyOf = ({ namespace, name }: { namespace: string; name: string }) => `${namespace}/${name}`

test('every row is on exactly one page, forward and backward, in any order', () => {
  fc.assert(
    fc.property(rowsOf, orders, fc.integer({ min: 1, max: 4 }), (parts, order, size) => {
      const orderBy = order as PageArgs['orderBy']
      const rows = inOrder(parts, orderBy)
      const forward: string[] = []
      for (let after: string | undefined; ; ) {
        const page = cutPage(rows, { first: size, after, orderBy })
        forward.push(...page.edges.map(({ node }) => keyOf(node)))
        after = page.edges.at(-1)?.cursor
        if (!page.hasNextPage) break
      }
      const backward: string[] = []
      for (let before: string | undefined; ; ) {
        const page = cutPage(rows, { last: size, before, orderBy })
        backward.unshift(...page.edges.map(({ node }) => keyOf(node)))
        before = page.edges[0]?.cursor
        if (!page.hasPreviousPage) break
      }
      expect(forward).toEqual(rows.map(keyOf))
      expect(backward).toEqual(rows.map(keyOf))
    }),
  )
})

test('ties stand by namespace and name in both directions, and rows without a value come last', () => {
  const parts = [
    { namespace: 'b', name: 'x', updatedAt: null },
    { namespace: 'a', name: 'z', updatedAt: '2031-01-01T00:00:00Z' },
    { namespace: 'a', name: 'x', updatedAt: '2031-01-01T00:00:00.000Z' },
    { namespace: 'a', name: 'y', updatedAt: '2031-01-02T00:00:00Z' },
  ]
  const order = (direction: 'ASC' | 'DESC') => inOrder(parts, { field: 'UPDATED_AT', direction }).map(keyOf)
  expect(order('ASC')).toEqual(['a/x', 'a/z', 'a/y', 'b/x'])
  expect(order('DESC')).toEqual(['a/y', 'a/x', 'a/z', 'b/x'])
})

test('a cursor keeps its place when its row has left, and is refused by another order', () => {
  const orderBy: PageArgs['orderBy'] = { field: 'NAME', direction: 'ASC' }
  const rows = inOrder([{ name: 'a' }, { name: 'b' }, { name: 'c' }], orderBy)
  const cursor = cutPage(rows, { first: 2, orderBy }).edges[1]?.cursor as string
  const without = rows.filter(({ name }) => name !== 'b')
  expect(cutPage(without, { first: 2, after: cursor, orderBy }).edges.map(({ node }) => node.name)).toEqual([
    'c',
  ])
  for (const [after, by] of [
    [cursor, { field: 'PHASE', direction: 'ASC' }],
    [cursor, { field: 'NAME', direction: 'DESC' }],
    ['rubbish', orderBy],
    ['', orderBy],
  ] as [string, PageArgs['orderBy']][]) {
    expect(() => cutPage(rows, { first: 1, after, orderBy: by })).toThrow(InvalidCursor)
  }
})

test('rows that come, change and go stay in order and are counted', () => {
  fc.assert(
    fc.property(rowsOf, rowsOf, (put, removed) => {
      const sorted = new SortedRows()
      const expected = new Map<string, Row>()
      for (const part of [...put, ...put.map((one) => ({ ...one, phase: 'FAILED' as const }))]) {
        const row = { ...base, ...part }
        sorted.put(row)
        expected.set(keyOf(row), row)
      }
      for (const ref of removed) {
        sorted.remove(ref)
        expected.delete(keyOf(ref))
      }
      expect(sorted.all).toEqual([...expected.values()].sort(byRelease))
      expect(phaseCounts(sorted.counts)).toEqual(phaseCounts(countByPhase(expected.values())))
      for (const ref of put) expect(sorted.get(ref)).toEqual(expected.get(keyOf(ref)))
    }),
  )
})

describe('a filter', () => {
  const row: Row = { ...base, namespace: 'team-a', name: 'chat', phase: 'APPLIED' }
  test.each([
    [undefined, true],
    [{}, true],
    [{ namespaces: ['team-a', 'team-b'] }, true],
    [{ namespaces: [] }, false],
    [{ phases: ['FAILED'] }, false],
    [{ phases: ['FAILED', 'APPLIED'], backends: ['HELM'] }, true],
    [{ backends: ['LLMSERVICE'] }, false],
    [{ canaryStates: ['STANDALONE'] }, false],
    [{ models: ['gpt-oss-20b'], engines: ['vllm'] }, true],
    [{ models: ['other'] }, false],
    [{ engines: ['sglang'] }, false],
    [{ drifted: true }, true],
    [{ drifted: false }, false],
    [{ search: 'HA' }, true],
    [{ search: 'team-a/ch' }, true],
    [{ search: 'OSS' }, true],
    [{ search: 'zebra' }, false],
    [{ uninstallingBefore: '2032-01-01T00:00:00Z' }, false],
  ] as const)('%j fits: %s', (filter, fits) => {
    expect(matches(row, filter)).toBe(fits)
  })

  test('by when the uninstall began', () => {
    const since = { ...row, deletion: { startedAt: '2031-01-01T00:00:00.000Z' } } as Row
    expect(matches(since, { uninstallingBefore: '2031-01-01T00:00:01Z' })).toBe(true)
    expect(matches(since, { uninstallingBefore: '2031-01-01T00:00:00Z' })).toBe(false)
  })
})
