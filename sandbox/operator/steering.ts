import { group, type LlmService } from './llmService.ts'

/** How people want a teardown to go, by annotations on the LLMService. Durations are milliseconds. */
export interface Steering {
  routeSettleMs: number
  /** From the begin of the deletion on; then pods are no longer waited for. */
  maxWaitMs: number
  /** From the begin of the deletion on; never when absent. */
  forceAfterMs?: number
  orphan: boolean
  /** What is wrong with the annotations; the default stands for each. */
  problems: string[]
}

const defaultRouteSettleMs = 2_000
const defaultMaxWaitMs = 600_000

export function steeringOf(service: LlmService): Steering {
  const { annotations = {} } = service.metadata
  const problems: string[] = []
  const duration = (key: string) => {
    const text = annotations[`${group}/${key}`]
    const ms = text === undefined ? undefined : parseDuration(text)
    if (text !== undefined && ms === undefined) problems.push(`${group}/${key} is no duration: ${text}`)
    return ms
  }
  const forceAfterMs = duration('force-delete-after')
  return {
    routeSettleMs: duration('route-settle') ?? defaultRouteSettleMs,
    maxWaitMs: duration('deletion-max-wait') ?? defaultMaxWaitMs,
    ...(forceAfterMs === undefined ? {} : { forceAfterMs }),
    orphan: annotations[`${group}/deletion-policy`] === 'Orphan',
    problems,
  }
}

/** Ten years; more than that is no time of day any more. */
const longestMs = 315_360_000_000

const units: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }

/**
 * A duration as Go writes it (`1h30m`, `1.5s`, `250ms`); a bare number is seconds. Undefined when it is
 * neither; ten years at most.
 */
export function parseDuration(text: string): number | undefined {
  if (/^\d+(\.\d+)?$/.test(text)) return Math.min(Number(text) * 1_000, longestMs)
  if (!/^(\d+(\.\d+)?(ms|s|m|h))+$/.test(text)) return undefined
  let sum = 0
  for (const [, number, unit = ''] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)) {
    sum += Number(number) * (units[unit] ?? 0)
  }
  return Math.min(sum, longestMs)
}
