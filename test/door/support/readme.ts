import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './built.ts'

export const README = readFileSync(join(ROOT, 'README.md'), 'utf8')

/** A fenced block of the README. */
export interface Block {
  language: string
  text: string
}

/** All fenced blocks, in their order. */
export function blocksOf(markdown: string): Block[] {
  const fences = markdown.matchAll(/^```([^\n]*)\n([\s\S]*?)^```$/gm)
  return [...fences].map(([, language = '', text = '']) => ({ language: language.trim(), text }))
}

/** The address that the examples of the README call. */
const ADDRESS = '127.0.0.1:4000'

/** Everything in the README that calls a gateway, by what it does. */
export interface Examples {
  /** Queries by curl, one answer each. */
  queries: string[]
  /** Subscriptions by curl. */
  streams: string[]
  /** An uninstall and the stream of it, by curl. */
  deletions: string[]
  /** Mutations by curl. */
  mutations: string[]
  /** Subscriptions in JavaScript. */
  scripts: string[]
  /** Blocks with the address in them that are none of these. */
  others: Block[]
}

/** The examples word for word, but for the address: they call the gateway at `url`. */
export function examplesFor(url: string): Examples {
  const examples: Examples = {
    queries: [],
    streams: [],
    deletions: [],
    mutations: [],
    scripts: [],
    others: [],
  }
  for (const block of blocksOf(README).filter(({ text }) => text.includes(ADDRESS))) {
    const text = block.text.replaceAll(ADDRESS, new URL(url).host)
    if (block.language === 'js') examples.scripts.push(text)
    else if (block.language !== 'sh' || !text.includes('curl ')) examples.others.push(block)
    else if (text.includes('deletionProgressed')) examples.deletions.push(text)
    else if (text.includes('text/event-stream')) examples.streams.push(text)
    else if (/"mutation\b/.test(text)) examples.mutations.push(text)
    else examples.queries.push(text)
  }
  return examples
}

/** What a row of a table has in its first cells, between backticks. */
export function codesOfTable(markdown: string, header: string): string[][] {
  const lines = markdown.slice(markdown.indexOf(header)).split('\n').slice(2)
  const end = lines.findIndex((line) => !line.startsWith('|'))
  return lines.slice(0, end).map((line) => [...line.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code))
}
