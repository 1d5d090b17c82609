import { parseDocument, Scalar } from 'yaml'
import { isPlanMap, type PlanMap, type PlanValue, setKey } from './scalars.ts'
import { mustBeQuoted, readYamlMap, writeYaml } from './yaml.ts'

/** A text to be put at a path of keys, maps on the way included. */
export type YamlEdit = readonly [path: readonly string[], text: string]

/**
 * A YAML map with some texts in it replaced; everything else stays as it is written, comments and digits too.
 * Where the text does not allow that (anchors, or a list where a map has to be), it is written anew, with every
 * scalar as text. One that cannot be read is taken for empty.
 */
export function editYaml(text: string, edits: readonly YamlEdit[]): string {
  const reading = readYamlMap(text, { asText: true })
  const wanted = edits.reduce(
    (map, [path, value]) => withText(map, path, value),
    reading.ok ? reading.value : {},
  )
  const edited = reading.ok ? editedInPlace(text, edits) : null
  const check = edited === null ? null : readYamlMap(edited, { asText: true })
  return edited !== null && check?.ok && writeYaml(check.value) === writeYaml(wanted)
    ? edited
    : writeYaml(wanted)
}

function editedInPlace(text: string, edits: readonly YamlEdit[]): string | null {
  // Every scalar is a text to this schema, so that it is written again with the digits it had.
  const options = { schema: 'failsafe', version: '1.1', merge: false, resolveKnownTags: false } as const
  const document = parseDocument(text, { ...options, prettyErrors: false, logLevel: 'error' })
  try {
    for (const [path, value] of edits) {
      const scalar = new Scalar(value)
      if (mustBeQuoted(value)) scalar.type = Scalar.QUOTE_DOUBLE
      document.setIn(path, scalar)
    }
    return document.toString({ lineWidth: 0 })
  } catch {
    // A scalar or an alias stands where a map has to be.
    return null
  }
}

function withText(map: PlanMap, [key, ...rest]: readonly string[], text: string): PlanMap {
  if (key === undefined) return map
  const before: PlanValue | undefined = Object.hasOwn(map, key) ? map[key] : undefined
  const after = rest.length === 0 ? text : withText(isPlanMap(before) ? before : {}, rest, text)
  const copy: PlanMap = {}
  for (const [name, item] of Object.entries(map)) setKey(copy, name, name === key ? after : item)
  if (before === undefined) setKey(copy, key, after)
  return copy
}
