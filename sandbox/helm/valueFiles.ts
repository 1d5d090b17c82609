import { readFileSync } from 'node:fs'
import { isMap, merge, type Values } from '../charts/values.ts'
import { HelmError } from './helmError.ts'

/** The values of `-f` files, merged in their order as helm does it. Throws HelmError in helm's words. */
export async function readValueFiles(paths: string[]): Promise<Values> {
  if (paths.length === 0) return {}
  // Only where it is needed: helm is started for every uninstall.
  const { parse } = await import('yaml')
  return paths.map((path) => readOne(path, parse)).reduce(merge, {})
}

function readOne(path: string, parse: typeof import('yaml')['parse']): Values {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw new HelmError(`open ${path}: no such file or directory`)
  }
  let values: unknown
  try {
    values = parse(text, { version: '1.1', merge: true })
  } catch (error) {
    throw new HelmError(`failed to parse ${path}: error converting YAML to JSON: ${firstLine(error)}`)
  }
  if (values === null || values === undefined) return {}
  if (isMap(values)) return JSON.parse(JSON.stringify(values)) as Values
  throw new HelmError(`failed to parse ${path}: error unmarshaling JSON: cannot unmarshal it into a map`)
}

const firstLine = (error: unknown) => (error as Error).message.split('\n')[0]
