import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  changeMarkedRun,
  isMarked,
  markFailed,
  markUninstalling,
  putBack,
} from '../../../services/plans/mark.ts'
import type { MarkedRun } from '../../../services/plans/markedRun.ts'
import { changeStatus, readStatus } from '../../../services/plans/status.ts'
import { readYamlMap, writeYaml } from '../../../services/plans/yaml.ts'

const T0 = Date.parse('2031-01-01T00:00:00Z')
const run: MarkedRun = {
  id: 'run-1',
  release: { namespace: 'team-a', name: 'chat' },
  backend: 'HELM',
  actor: 'ada',
  note: 'no longer needed: yes',
  startedAt: '2031-01-01T00:00:00.000Z',
  planHash: 'h1',
  revision: 3,
  attempts: 0,
  chart: 'vllm',
  planUid: 'uid-1',
  llmServiceUid: null,
  helmUid: 'uid-of-record',
  helmEnded: null,
}
const status = (text: string) => ({ 'status.yaml': text })
const mapOf = (text: string) => {
  const reading = readYamlMap(text)
  if (!reading.ok) throw new Error(reading.reason)
  return reading.value
}

describe('status.yaml', () => {
  test('is read, unknown phases and a revision of 0 as none', () => {
    expect(
      readStatus(
        status(
          'phase: applied\naction: apply\nrevision: 3\nstartedAt: 2031-01-01T02:00:00+02:00\nupdatedAt: "2031-01-01T00:00:01Z"\nforced: yes\nactor: ada\n',
        ),
      ),
    ).toEqual({
      unreadable: null,
      status: {
        phase: 'applied',
        action: 'apply',
        revision: 3,
        startedAt: '2031-01-01T00:00:00.000Z',
        updatedAt: '2031-01-01T00:00:01.000Z',
        error: null,
        note: null,
        forced: true,
        actor: 'ada',
        run: null,
      },
    })
    expect(readStatus(status('phase: paused\nrevision: 0\nstartedAt: soon\n')).status).toMatchObject({
      phase: null,
      revision: null,
      startedAt: null,
    })
  })

  test('none, empty and broken ones', () => {
    expect(readStatus({})).toEqual({ status: null, unreadable: null })
    expect(readStatus(status(''))).toEqual({ status: null, unreadable: null })
    expect(readStatus(status('not: [closed\n')).unreadable).toMatch(/^status\.yaml is not valid YAML/)
    expect(readStatus(status('- a\n'))).toEqual({ status: null, unreadable: 'status.yaml is not a map' })
  })

  test('a change keeps unknown keys, takes nulls away and bounds the error', () => {
    const before = status('phase: applied\nrevision: 3\nerror: old\nticket: T-77\nbig: 9007199254740993\n')
    const text = changeStatus(before, {
      phase: 'failed',
      action: 'apply',
      error: `first ${'x'.repeat(10_000)} last`,
      actor: null,
      now: T0,
    })
    const map = mapOf(text)
    expect(map).toMatchObject({ phase: 'failed', revision: 3, ticket: 'T-77', big: 9007199254740993n })
    expect(map.updatedAt).toBe('2031-01-01T00:00:00.000Z')
    expect(Buffer.byteLength(map.error as string)).toBeLessThanOrEqual(4096)
    expect(map.error).toMatch(/^first x+\n… \d+ bytes left out …\nx+ last$/)
    expect(
      mapOf(changeStatus(status(text), { phase: 'applied', action: 'apply', error: null, now: T0 })),
    ).not.toHaveProperty('error')
  })
})

describe('the mark', () => {
  test('says what the contract says, and carries the run and what it replaced', () => {
    const before = 'phase: applied\naction: apply\nrevision: 3\nticket: T-77\n'
    const text = markUninstalling(status(before), run, T0)
    expect(mapOf(text)).toEqual({
      phase: 'uninstalling',
      action: 'uninstall',
      revision: 3,
      startedAt: '2031-01-01T00:00:00.000Z',
      updatedAt: '2031-01-01T00:00:00.000Z',
      note: 'no longer needed: yes',
      actor: 'ada',
      ticket: 'T-77',
      previous: { phase: 'applied', action: 'apply', revision: 3, ticket: 'T-77' },
      run: {
        id: 'run-1',
        release: { namespace: 'team-a', name: 'chat' },
        backend: 'HELM',
        actor: 'ada',
        note: 'no longer needed: yes',
        startedAt: '2031-01-01T00:00:00.000Z',
        planHash: 'h1',
        revision: 3,
        attempts: 0,
        chart: 'vllm',
        uids: { plan: 'uid-1', helm: 'uid-of-record' },
      },
    })
    expect(readStatus(status(text)).status).toMatchObject({ phase: 'uninstalling', run })
  })

  test('without a plan it has no previous', () => {
    const text = markUninstalling({}, { ...run, backend: 'LLMSERVICE', llmServiceUid: 'uid-9' }, T0)
    expect(mapOf(text)).not.toHaveProperty('previous')
    expect(readStatus(status(text)).status?.run).toMatchObject({
      backend: 'LLMSERVICE',
      llmServiceUid: 'uid-9',
    })
    expect(putBack(status(text))).toBeNull()
  })

  test('over a mark it keeps the first previous', () => {
    const once = markUninstalling(status('phase: failed\nrevision: 2\n'), run, T0)
    const twice = markUninstalling(status(once), { ...run, id: 'run-2' }, T0 + 1000)
    expect(putBack(status(twice))).toBe('phase: failed\nrevision: 2\n')
    expect(readStatus(status(twice)).status?.run?.id).toBe('run-2')
  })

  test('is known by label or by status', () => {
    expect(
      isMarked({ labels: { 'swiss.modelsphere.dev/phase': 'uninstalling' }, data: status('a: b: c') }),
    ).toBe(true)
    expect(isMarked({ data: status(markUninstalling({}, run, T0)) })).toBe(true)
    expect(isMarked({ labels: {}, data: status('phase: applied\n') })).toBe(false)
    expect(isMarked({ data: status('note: "phase: uninstalling"\n') })).toBe(false)
    expect(isMarked({})).toBe(false)
  })

  test('another attempt changes the run and nothing else', () => {
    const text = markUninstalling(status('phase: applied\n# by hand\n'), run, T0)
    const next = changeMarkedRun(status(text), { attempts: 2 }, T0 + 5000)
    expect(readStatus(status(next ?? '')).status).toMatchObject({
      updatedAt: '2031-01-01T00:00:05.000Z',
      run: { ...run, attempts: 2 },
    })
    expect(putBack(status(next ?? ''))).toBe('phase: applied\n# by hand\n')
    expect(changeMarkedRun(status('phase: applied\n'), { attempts: 1 }, T0)).toBeNull()
    expect(changeMarkedRun({}, { attempts: 1 }, T0)).toBeNull()
  })

  test('a failed uninstall keeps the error, the revision and unknown keys, and is no mark any more', () => {
    const marked = markUninstalling(status('phase: applied\nrevision: 3\nticket: T-77\n'), run, T0)
    const text = markFailed(status(marked), 'Error: timed out waiting for the hook', T0 + 1000)
    expect(mapOf(text)).toEqual({
      phase: 'failed',
      action: 'uninstall',
      revision: 3,
      startedAt: '2031-01-01T00:00:00.000Z',
      updatedAt: '2031-01-01T00:00:01.000Z',
      error: 'Error: timed out waiting for the hook',
      note: 'no longer needed: yes',
      actor: 'ada',
      ticket: 'T-77',
    })
    expect(isMarked({ data: status(text) })).toBe(false)
    expect(text).toMatch(/phase: .?failed/)
  })

  test('what another tool has written meanwhile is left as it is', () => {
    expect(putBack(status('phase: applied # new\n'))).toBe('phase: applied # new\n')
    expect(putBack(status('not: [closed\n'))).toBe('not: [closed\n')
    expect(putBack({})).toBeNull()
  })

  const anyText = fc
    .oneof(
      fc.string({ unit: 'binary' }).filter((text) => text.isWellFormed()),
      fc
        .array(
          fc.constantFrom(
            'phase: applied\n',
            'a: b: c\n',
            '\t',
            '# x\n',
            'revision: 0o7\r\n',
            '- 1\n',
            '---\n',
            'k: |\n  t\n',
            '2: b\n1: a\n',
          ),
        )
        .map((parts) => parts.join('')),
      fc
        .dictionary(fc.string(), fc.oneof(fc.string(), fc.integer(), fc.bigInt(), fc.constant(null)))
        .map((map) => writeYaml(map)),
    )
    .filter((text) => readStatus(status(text)).status?.phase !== 'uninstalling')

  test('put back, a status is what it was, byte for byte', () => {
    fc.assert(
      fc.property(anyText, fc.nat(3), (text, attempts) => {
        const marked = markUninstalling(status(text), run, T0)
        const later = changeMarkedRun(status(marked), { attempts }, T0 + 1)
        expect(putBack(status(marked))).toBe(text)
        expect(putBack(status(later ?? ''))).toBe(text)
        expect(isMarked({ data: status(marked) })).toBe(true)
      }),
      { numRuns: 100 },
    )
  })
})
