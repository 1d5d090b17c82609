import { stringify } from 'yaml'
import type { Json } from './json.ts'
import { longestCommon, seenThrough } from './match.ts'

const context = 3

/** A unified diff of two texts, line by line, with three lines of context; empty when they are the same. */
export function unifiedDiff(expected: string[], got: string[]): string[] {
  const common = longestCommon(expected, got, (a, b) => a === b)
  const lines: { mark: ' ' | '-' | '+'; text: string; left: number; right: number }[] = []
  let left = 0
  let right = 0
  for (const [toLeft, toRight] of [...common, [expected.length, got.length] as const]) {
    for (; left < toLeft; left++) lines.push({ mark: '-', text: expected[left] ?? '', left, right })
    for (; right < toRight; right++) lines.push({ mark: '+', text: got[right] ?? '', left, right })
    if (toLeft < expected.length)
      lines.push({ mark: ' ', text: expected[toLeft] ?? '', left: left++, right: right++ })
  }
  const changed = lines.flatMap((line, at) => (line.mark === ' ' ? [] : [at]))
  const printed: string[] = []
  for (let first = 0; first < changed.length; ) {
    let last = first
    while (last + 1 < changed.length && at(changed, last + 1) - at(changed, last) <= 2 * context) last++
    const hunk = lines.slice(Math.max(0, at(changed, first) - context), at(changed, last) + context + 1)
    const size = (mark: '-' | '+') => hunk.filter((line) => line.mark === ' ' || line.mark === mark).length
    printed.push(`@@ -${(hunk[0]?.left ?? 0) + 1},${size('-')} +${(hunk[0]?.right ?? 0) + 1},${size('+')} @@`)
    for (const line of hunk) printed.push(line.mark + line.text)
    first = last + 1
  }
  return printed
}

const at = (list: number[], index: number) => list[index] ?? 0

/** Plain data as lines of YAML, one value a line. */
function linesOf(value: Json): string[] {
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false }).trimEnd().split('\n')
}

/** The unified diff of what was expected of `subject` and what it is. */
export function explain(subject: string, expected: Json, got: Json | undefined): string {
  const seen = seenThrough(expected, got)
  const body = unifiedDiff(linesOf(expected), linesOf(seen))
  return [`--- expected ${subject}`, `+++ got ${subject}`, ...body].join('\n')
}
