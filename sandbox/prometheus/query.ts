/** The little PromQL that the sandbox's Prometheus knows: one metric, matchers, and one aggregation around it. */

export interface Series {
  labels: Record<string, string>
  value: number
}

export const METRIC = 'sglang_num_queue_reqs'

const QUERY = /^\s*(?:(avg|sum|min|max|count)\s*\(\s*)?([a-zA-Z_:][\w:]*)\s*(?:\{([^{}]*)\})?\s*(\))?\s*$/
const MATCHER = /^\s*(\w+)\s*(=~|!~|!=|=)\s*"((?:[^"\\]|\\.)*)"\s*(?:,|$)/

const AGGREGATIONS: Record<string, (values: number[]) => number> = {
  sum: (values) => values.reduce((sum, value) => sum + value, 0),
  avg: (values) => values.reduce((sum, value) => sum + value, 0) / values.length,
  min: (values) => Math.min(...values),
  max: (values) => Math.max(...values),
  count: (values) => values.length,
}

/** The samples of a query over these series of the one metric, or what is wrong with it. */
export function evaluate(query: string, series: readonly Series[]): Series[] | { error: string } {
  const [, aggregation, metric, matchers = '', closed] = QUERY.exec(query) ?? []
  if (metric === undefined || (aggregation === undefined) !== (closed === undefined)) {
    const known = `METRIC{label="value"} and avg, sum, min, max or count of it`
    return { error: `parse error: the sandbox's Prometheus knows ${known}` }
  }
  const tests = matchersOf(matchers)
  if (tests === null) return { error: 'parse error: the labels cannot be read' }
  const found = metric === METRIC ? series.filter(({ labels }) => tests.every((test) => test(labels))) : []
  if (aggregation === undefined || found.length === 0) return found
  const value = AGGREGATIONS[aggregation]?.(found.map((one) => one.value)) ?? Number.NaN
  return [{ labels: {}, value }]
}

function matchersOf(text: string): ((labels: Record<string, string>) => boolean)[] | null {
  const tests: ((labels: Record<string, string>) => boolean)[] = []
  let rest = text
  while (rest.trim() !== '') {
    const match = MATCHER.exec(rest)
    if (!match) return null
    const [whole, label = '', operator, raw = ''] = match
    rest = rest.slice(whole.length)
    const value = raw.replaceAll(/\\(.)/g, '$1')
    const isWanted = operator === '=' || operator === '=~'
    const fits = operator?.endsWith('~') ? pattern(value) : (text: string) => text === value
    if (fits === null) return null
    tests.push((labels) => fits(labels[label] ?? '') === isWanted)
  }
  return tests
}

function pattern(text: string): ((value: string) => boolean) | null {
  try {
    const regex = new RegExp(`^(?:${text})$`)
    return (value) => regex.test(value)
  } catch {
    return null
  }
}
