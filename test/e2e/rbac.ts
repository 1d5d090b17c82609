import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'

const FOLDER = join(import.meta.dirname, '../../deploy/rbac')

export type Rule = { apiGroups: string[]; resources: string[]; verbs: string[] }
type Manifest = {
  apiVersion: string
  kind: string
  metadata: { name: string; namespace?: string }
  rules?: Rule[]
}

/** The text of a file of deploy/rbac. */
export const rbacText = (file: string): string => readFileSync(join(FOLDER, file), 'utf8')

/** Its objects. */
export const rbacObjects = (file: string): Manifest[] =>
  parseAllDocuments(rbacText(file)).map((document) => document.toJS() as Manifest)

/** What its role allows, one `verb group/resource` each; the core group is empty. */
export function allowedBy(file: string): Set<string> {
  const rules = rbacObjects(file).flatMap(({ rules = [] }) => rules)
  return new Set(
    rules.flatMap(({ apiGroups, resources, verbs }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) => verbs.map((verb) => `${verb} ${group}/${resource}`)),
      ),
    ),
  )
}

/** Where objects of these kinds are made. */
export function pathOf({ apiVersion, kind, metadata: { namespace } }: Manifest): string {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
  const scope = namespace === undefined ? '' : `/namespaces/${namespace}`
  return `${root}${scope}/${kind.toLowerCase()}s`
}
