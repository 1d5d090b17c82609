import { labelValueProblem, qualifiedNameProblem } from './validation.ts'

type Labels = Record<string, string>

interface Requirement {
  key: string
  operator: 'in' | 'notin' | 'exists' | 'absent'
  values: string[]
}

/** A label selector that has been read: every requirement must hold. */
export interface LabelSelector {
  /** True for the empty selector, which everything matches. */
  everything: boolean
  matches(labels: Labels | undefined): boolean
}

/** Why a selector cannot be read: the server answers it with 400. */
export interface SelectorProblem {
  problem: string
}

const set = /^(\S+?)\s+(in|notin)\s*\(([^()]*)\)$/
const equality = /^([^=!\s]+)\s*(==|=|!=)\s*(\S*)$/

/** Reads `a=b,c!=d,e in (f,g),h notin (i),j,!k`. */
export function parseLabelSelector(text: string): LabelSelector | SelectorProblem {
  const requirements: Requirement[] = []
  for (const part of splitOutsideParentheses(text)) {
    const requirement = parseRequirement(part)
    if ('problem' in requirement) return requirement
    requirements.push(requirement)
  }
  return {
    everything: requirements.length === 0,
    matches: (labels) => requirements.every((requirement) => holds(requirement, labels ?? {})),
  }
}

function splitOutsideParentheses(text: string): string[] {
  if (text.trim() === '') return []
  const parts: string[] = []
  let depth = 0
  let part = ''
  for (const character of text) {
    if (character === '(') depth += 1
    if (character === ')') depth -= 1
    if (character === ',' && depth === 0) {
      parts.push(part.trim())
      part = ''
    } else {
      part += character
    }
  }
  parts.push(part.trim())
  return parts
}

function parseRequirement(part: string): Requirement | SelectorProblem {
  const inSet = set.exec(part)
  if (inSet !== null) {
    const operator = inSet[2] === 'in' ? 'in' : 'notin'
    const values = (inSet[3] ?? '').split(',').map((value) => value.trim())
    return checked({ key: inSet[1] ?? '', operator, values })
  }
  const equal = equality.exec(part)
  if (equal !== null) {
    const operator = equal[2] === '!=' ? 'notin' : 'in'
    return checked({ key: equal[1] ?? '', operator, values: [equal[3] ?? ''] })
  }
  const absent = part.startsWith('!')
  const key = absent ? part.slice(1).trim() : part
  return checked({ key, operator: absent ? 'absent' : 'exists', values: [] })
}

function checked(requirement: Requirement): Requirement | SelectorProblem {
  const { key, values } = requirement
  const wrongKey = qualifiedNameProblem(key)
  if (wrongKey !== undefined) {
    return {
      problem: `unable to parse requirement: <nil>: Invalid value: ${JSON.stringify(key)}: ${wrongKey}`,
    }
  }
  for (const [index, value] of values.entries()) {
    const wrong = labelValueProblem(value)
    if (wrong === undefined) continue
    const where = `values[${index}][${key}]`
    return {
      problem: `unable to parse requirement: ${where}: Invalid value: ${JSON.stringify(value)}: ${wrong}`,
    }
  }
  return requirement
}

function holds(requirement: Requirement, labels: Labels): boolean {
  const value = labels[requirement.key]
  switch (requirement.operator) {
    case 'in':
      return value !== undefined && requirement.values.includes(value)
    case 'notin':
      return value === undefined || !requirement.values.includes(value)
    case 'exists':
      return value !== undefined
    case 'absent':
      return value === undefined
  }
}
