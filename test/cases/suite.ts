import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { type Case, readCase } from './format.ts'

/** A file of a case, read or found wanting. */
export interface CaseFile {
  /** As people are shown it. */
  path: string
  /** What came out of it; an Error for a file that is no case. */
  read: Case | Error
}

/**
 * All cases of folders (with what is below them) and of single files, by path. A folder without a case, a path
 * that is not there, a file that is no case and a name that two cases have are entries with an Error.
 */
export function readCases(paths: string[], from = process.cwd()): CaseFile[] {
  const seen = new Set<string>()
  const names = new Map<string, string>()
  const readOne = (file: string): CaseFile => {
    const path = relative(from, file)
    try {
      const read = readCase(dataOf(readFileSync(file, 'utf8')))
      const other = names.get(read.name)
      if (other !== undefined) throw new Error(`name: is that of ${other} too`)
      names.set(read.name, path)
      return { path, read }
    } catch (error) {
      return { path, read: error instanceof Error ? error : new Error(String(error)) }
    }
  }
  return paths.flatMap((path): CaseFile[] => {
    const found = yamlFiles(path)
    if (typeof found === 'string') return [{ path, read: new Error(found) }]
    return found
      .filter((file) => {
        const real = realpathSync(file)
        const isNew = !seen.has(real)
        seen.add(real)
        return isNew
      })
      .map(readOne)
  })
}

/** The files of a path, or what is wrong with it. */
function yamlFiles(path: string): string[] | string {
  let stat: ReturnType<typeof statSync>
  try {
    stat = statSync(path)
  } catch {
    return 'is not there'
  }
  if (!stat.isDirectory()) return [path]
  const files = readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.ya?ml$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
  return files.length > 0 ? files : 'there is no case in it'
}

/** One document of YAML 1.2; what the parser only warns of is wrong in a case. */
function dataOf(content: string): unknown {
  const documents = parseAllDocuments(content, { version: '1.2', prettyErrors: true })
  if (!Array.isArray(documents) || documents.length !== 1) throw new Error('is not one YAML document')
  const [document] = documents
  const [mistake] = [...(document?.errors ?? []), ...(document?.warnings ?? [])]
  if (mistake) throw new Error(`is no YAML: ${mistake.message}`)
  return document?.toJS()
}
