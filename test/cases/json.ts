/** Plain data, as it stands in a case and in an answer. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

export type JsonMap = { [key: string]: Json }

export const isMap = (value: Json | undefined): value is JsonMap =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Own keys only, so that a case cannot reach into a prototype. */
export const fieldOf = (map: JsonMap, key: string): Json | undefined =>
  Object.hasOwn(map, key) ? map[key] : undefined

/** A copy in which each string goes through `change`; keys stay. */
export function mapStrings(value: Json, change: (text: string) => Json): Json {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, change))
  if (!isMap(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapStrings(item, change)]))
}

/** The value at `a.b.0.c`, or undefined where the path leads nowhere. */
export function atPath(value: Json, path: string): Json | undefined {
  let here: Json | undefined = value
  for (const key of path.split('.')) {
    if (Array.isArray(here)) here = /^\d+$/.test(key) ? here[Number(key)] : undefined
    else here = isMap(here) ? fieldOf(here, key) : undefined
  }
  return here
}
