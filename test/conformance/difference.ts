/** Where two JSON values differ: one line for each place, at most `limit`. Empty when they are equal. */
export function differences(expected: unknown, actual: unknown, limit = 8): string[] {
  const found: string[] = []
  compare(expected, actual, '', found)
  if (found.length <= limit) return found
  return [...found.slice(0, limit), `and ${found.length - limit} more`]
}

function compare(expected: unknown, actual: unknown, path: string, found: string[]): void {
  if (isObject(expected) && isObject(actual) && Array.isArray(expected) === Array.isArray(actual)) {
    const keys = new Set([...Object.keys(expected), ...Object.keys(actual)])
    for (const key of keys) compare(expected[key], actual[key], `${path}/${key}`, found)
  } else if (!Object.is(expected, actual)) {
    found.push(`${path}: expected ${shown(expected)}, got ${shown(actual)}`)
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function shown(value: unknown): string {
  if (value === undefined) return 'nothing'
  const text = JSON.stringify(value)
  return text.length > 400 ? `${text.slice(0, 400)}…` : text
}
