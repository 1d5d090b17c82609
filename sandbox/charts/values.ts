export type Values = Record<string, unknown>

export const isMap = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const mapOf = (value: unknown): Values => (isMap(value) ? value : {})

export const textOf = (value: unknown) =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : undefined

/** A whole number that is not negative, also as a text; undefined for everything else. */
export function countOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isInteger(number) && number >= 0 ? number : undefined
}

/** Maps merge, everything else replaces; null is a value. As helm merges value files, in their order. */
export function merge(under: Values, over: Values): Values {
  const merged = { ...under }
  for (const [key, value] of Object.entries(over)) {
    const below = merged[key]
    merged[key] = isMap(below) && isMap(value) ? merge(below, value) : value
  }
  return merged
}

/** A chart's defaults below the values of a release: as `merge`, but null takes the key of a default away. */
export function withChartDefaults(defaults: Values, values: Values): Values {
  const merged = { ...values }
  for (const [key, value] of Object.entries(defaults)) {
    const own = values[key]
    if (!Object.hasOwn(values, key)) merged[key] = value
    else if (own === null) delete merged[key]
    else if (isMap(value) && isMap(own)) merged[key] = withChartDefaults(value, own)
  }
  return merged
}
