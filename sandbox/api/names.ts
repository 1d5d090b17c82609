import { randomInt } from 'node:crypto'

// Without vowels and lookalikes, as the API server's own generator.
const letters = 'bcdfghjklmnpqrstvwxz2456789'

/** The five characters that follow a `generateName`. */
export function randomSuffix(): string {
  return Array.from({ length: 5 }, () => letters[randomInt(letters.length)]).join('')
}
