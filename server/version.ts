import { readFileSync } from 'node:fs'

/** The version in package.json, which lies one folder up from the sources and two from what is built. */
export const VERSION: string = readVersion()

function readVersion(): string {
  for (const path of ['../package.json', '../../package.json']) {
    try {
      const { version } = JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'))
      if (typeof version === 'string') return version
    } catch {
      // Not this one.
    }
  }
  return 'unknown'
}
