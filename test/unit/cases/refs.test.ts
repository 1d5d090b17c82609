import { describe, expect, it } from 'vitest'
import { chartOf, durationMs, objectRef, timeMs } from '../../cases/refs.ts'

describe('refs', () => {
  it.each([
    ['30s', 30_000],
    ['5m', 300_000],
    ['1h', 3_600_000],
    ['1h30m5s', 5_405_000],
    ['250ms', 250],
    ['0s', 0],
    ['5', undefined],
    ['5d', undefined],
    ['-5s', undefined],
    ['5s ', undefined],
    ['', undefined],
  ])('duration %s', (text, ms) => expect(durationMs(text)).toBe(ms))

  it.each([
    ['2031-01-01T00:00:00Z', 1_924_992_000_000],
    ['2031-01-01T01:00:00+01:00', 1_924_992_000_000],
    ['2031-01-01T00:00:00.250Z', 1_924_992_000_250],
    ['2031-01-01', undefined],
    ['2031-13-01T00:00:00Z', undefined],
  ])('time %s', (text, ms) => expect(timeMs(text)).toBe(ms))

  it.each([
    ['Pod/team-a/chat-0', { kind: 'Pod', namespace: 'team-a', name: 'chat-0' }],
    ['Node//n1', { kind: 'Node', name: 'n1' }],
    ['Pod/chat-0', undefined],
    ['Pod/team-a/', undefined],
    ['Pod/team-a/chat/0', undefined],
  ])('object %s', (text, ref) => expect(objectRef(text)).toEqual(ref))

  it.each([
    ['vllm-0.4.0', { name: 'vllm', version: '0.4.0' }],
    ['longname-engine-pack-1.0.0', { name: 'longname-engine-pack', version: '1.0.0' }],
    ['a-1-2', { name: 'a-1', version: '2' }],
    ['vllm', undefined],
    ['-1.0', undefined],
  ])('chart %s', (text, chart) => expect(chartOf(text)).toEqual(chart))
})
