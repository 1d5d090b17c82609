/** The input of composing as plan values, with everything that is wrong with it. Pure. */
import { type DocumentPlan, readPlanDocument } from '../plans/planDocument.ts'
import { type PlanIssue, type Read, readJsonValues, readYamlValues } from '../plans/planInput.ts'
import type { PlanMap } from '../plans/scalars.ts'
import { readYamlMap } from '../plans/yaml.ts'
import type { ComposeRequest } from './composeOutcome.ts'

export interface ComposeInput {
  /** Null where it starts from a release. */
  document: DocumentPlan | null
  form: PlanMap | null
  edits: PlanMap | null
  /** Name of the release that it is for. */
  name: string
}

const at = (...keys: string[]): string[] => ['input', ...keys]

export function readComposeInput(request: ComposeRequest): Read<ComposeInput> {
  const { name, fromRelease, namespace, plan, planYaml } = request
  const issues: PlanIssue[] = []
  const take = <T>(read: Read<T> | null): T | null => {
    if (read === null) return null
    if ('value' in read) return read.value
    issues.push(...read.issues)
    return null
  }
  const document = take(readDocument(request))
  const form = take(readValues(request, 'form'))
  const edits = take(readValues(request, 'edits'))

  const sources = [fromRelease, plan, planYaml].filter((source) => source !== null).length
  if (sources === 0)
    issues.push({ path: at('fromRelease'), message: 'must be given, or plan or planYaml instead' })
  if (sources > 1) {
    const path = at(fromRelease === null ? 'planYaml' : 'fromRelease')
    issues.push({ path, message: 'must be the only one of fromRelease, plan and planYaml' })
  }
  if (!request.reuseSource) {
    issues.push({ path: at('reuseSource'), message: 'must be true as long as there are no catalogs' })
  }
  if (document?.namespace && document.namespace !== namespace) {
    const path = [...documentPath(request), 'release', 'namespace']
    issues.push({ path, message: 'must be the namespace of the input' })
  }
  const of = name ?? fromRelease ?? document?.name ?? null
  if (of === null && document !== null) {
    issues.push({ path: at('name'), message: 'must be given, because the plan names no release' })
  }
  if (issues.length > 0 || of === null) return { issues }
  return { value: { document, form, edits, name: of } }
}

/** Where in the input the plan comes from. */
export function documentPath({ plan, planYaml }: ComposeRequest): string[] {
  return at(plan !== null ? 'plan' : planYaml !== null ? 'planYaml' : 'fromRelease')
}

function readDocument({ plan, planYaml }: ComposeRequest): Read<DocumentPlan> | null {
  if (plan !== null) {
    const values = readJsonValues(plan, at('plan'), 'planYaml')
    return 'issues' in values ? values : readPlanDocument(values.value, values.value, at('plan'))
  }
  if (planYaml === null) return null
  const values = readYamlValues(planYaml, at('planYaml'))
  if ('issues' in values) return values
  const texts = readYamlMap(planYaml, { asText: true })
  return texts.ok
    ? readPlanDocument(values.value, texts.value, at('planYaml'))
    : { issues: [{ path: at('planYaml'), message: texts.reason }] }
}

function readValues(request: ComposeRequest, key: 'form' | 'edits'): Read<PlanMap> | null {
  const json = request[key]
  const yamlKey = `${key}Yaml` as const
  const yaml = request[yamlKey]
  if (json !== null && yaml !== null) {
    return { issues: [{ path: at(yamlKey), message: `must not be given beside ${key}` }] }
  }
  if (json !== null) return readJsonValues(json, at(key), yamlKey)
  return yaml === null ? null : readYamlValues(yaml, at(yamlKey))
}
