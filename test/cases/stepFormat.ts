import { z } from 'zod'
import { type Check, check, verb } from './checkFormat.ts'
import type { Json, JsonMap } from './json.ts'
import {
  duration,
  expectation,
  json,
  kind,
  type Manifest,
  manifest,
  parse,
  ref,
  saysSomething,
  text,
  uint,
} from './scalars.ts'

const helmAnswer = z.strictObject({
  exit: uint.optional(),
  stderr: z.string().optional(),
  keepRecord: z.boolean().optional(),
  hold: z.boolean().optional(),
})

/** `fail`: the next revision is begun and ends as `failed`, before or half-way through what it would write. */
const applyAnswer = helmAnswer.extend({ fail: z.enum(['before', 'half']).optional() })

const sandboxHelm = z
  .strictObject({
    uninstall: helmAnswer.optional(),
    upgrade: applyAnswer.optional(),
    rollback: applyAnswer.optional(),
    release: z.literal(true).optional(),
  })
  .refine(saysSomething, 'says nothing')
export type HelmSetting = z.infer<typeof sandboxHelm>

const clusterKeys = ['create', 'replace', 'crds', 'patch', 'delete', 'remove'] as const
/** A step that changes the cluster's store directly. */
export type ClusterStep =
  | { key: 'create' | 'replace'; value: Manifest }
  | { key: 'crds'; value: string[] }
  | { key: 'patch'; value: string; with: Json }
  | { key: 'delete' | 'remove'; value: string }

const faultRule = z
  .strictObject({
    verb,
    kind,
    namespace: text.optional(),
    name: text.optional(),
    status: z.int().min(400).max(599).optional(),
    reason: text.optional(),
    times: z.int().min(1).optional(),
    drop: z.literal(true).optional(),
    gone: z.literal(true).optional(),
    silent: z.literal(true).optional(),
    first: z.array(z.record(z.string(), z.unknown())).min(1).optional(),
  })
  .refine((rule) => rule.status ?? rule.drop ?? rule.gone ?? rule.silent ?? rule.first, 'does nothing')
  .refine((rule) => rule.verb === 'watch' || !(rule.drop || rule.gone || rule.silent), 'acts on no stream')
export type FaultRule = Omit<z.infer<typeof faultRule>, 'first'> & { first?: ClusterStep[] }

const killPoint = z.enum([
  'now',
  'after-mark',
  'before-helm',
  'during-helm',
  'after-helm',
  'after-archives',
  'after-autoscale',
  'before-plan-delete',
  'before-audit',
  'after-archive',
  'after-plan',
  'after-status',
])
export type KillPoint = z.infer<typeof killPoint>

const caller = z.strictObject({ user: text, groups: z.array(text).default([]) })
export type Caller = z.infer<typeof caller>

const loop = z.enum(['reap', 'autoscale'])
const variables = z.record(z.string(), json).optional()
const document = z.strictObject({ query: text, variables })
const subscription = z.strictObject({ id: text, document: text, variables })

const mutationKeys = ['uninstall', 'compose', 'apply', 'rollback', 'autoscale'] as const
export type MutationKey = (typeof mutationKeys)[number]

/** What a step says of its answer. */
export interface Answer {
  expect?: Json
  save?: Record<string, string>
}
/** How a step is asked. */
export interface Asked extends Answer {
  as?: Caller
  on?: string
  background?: string
}
export type MutationStep = { key: MutationKey; value: JsonMap } & Asked
export type GraphqlStep = { key: 'graphql'; value: z.infer<typeof document> } & Asked
export type AwaitStep = { key: 'await'; value: string } & Answer
export type SubscribeStep = {
  key: 'subscribe'
  value: z.infer<typeof subscription>
  as?: Caller
  on?: string
}
export type CheckStep = { key: 'check'; value: Check; as?: Caller; on?: string }
export type Step =
  | ClusterStep
  | MutationStep
  | GraphqlStep
  | AwaitStep
  | SubscribeStep
  | CheckStep
  | { key: 'sandboxHelm'; value: HelmSetting }
  | { key: 'fault'; value: 'clear' | FaultRule }
  | { key: 'metrics'; value: Record<string, number | number[]> }
  | { key: 'advance'; value: string }
  | { key: 'tick'; value: z.infer<typeof loop>; on?: string }
  | { key: 'restart'; value: true; on?: string }
  | { key: 'kill'; value: { at: KillPoint }; on?: string }
  | { key: 'replica'; value: string }

/** What may stand beside a step's own key. */
const extras = {
  expect: expectation,
  save: z.record(z.string(), text).refine(saysSomething, 'saves nothing'),
  as: caller,
  on: text,
  background: text,
  with: json,
  subresource: z.literal('status'),
}
const asked = ['expect', 'save', 'as', 'on', 'background'] as const
const mutation = { value: z.record(z.string(), json), beside: asked }

/** For each step: its value, and what may stand beside it. Anything that would have no effect may not. */
const shapes: Record<Step['key'], { value: z.ZodType; beside: readonly (keyof typeof extras)[] }> = {
  uninstall: mutation,
  compose: mutation,
  apply: mutation,
  rollback: mutation,
  autoscale: mutation,
  graphql: { value: document, beside: asked },
  await: { value: text, beside: ['expect', 'save'] },
  create: { value: manifest, beside: [] },
  replace: { value: manifest, beside: [] },
  crds: { value: z.array(kind), beside: [] },
  patch: { value: ref, beside: ['with', 'subresource'] },
  delete: { value: ref, beside: [] },
  remove: { value: ref, beside: [] },
  sandboxHelm: { value: sandboxHelm, beside: [] },
  fault: { value: z.union([z.literal('clear'), z.record(z.string(), z.unknown())]), beside: [] },
  metrics: {
    value: z.record(text, z.union([z.number(), z.array(z.number())])).refine(saysSomething, 'says nothing'),
    beside: [],
  },
  advance: { value: duration, beside: [] },
  tick: { value: loop, beside: ['on'] },
  restart: { value: z.literal(true), beside: ['on'] },
  kill: { value: z.strictObject({ at: killPoint }), beside: ['on'] },
  replica: { value: text, beside: [] },
  subscribe: { value: subscription, beside: ['as', 'on'] },
  check: { value: check, beside: ['as', 'on'] },
}
const keys = Object.keys(shapes) as Step['key'][]

export const isClusterStep = (step: Step): step is ClusterStep => clusterKeys.some((key) => key === step.key)
export const isMutationStep = (step: Step): step is MutationStep =>
  mutationKeys.some((key) => key === step.key)

/** Reads one step. Throws an Error that says where what is wrong. */
export function readStep(step: Record<string, unknown>, place: string): Step {
  const [key, ...more] = keys.filter((known) => Object.hasOwn(step, known))
  if (key === undefined || more.length > 0) {
    const found = Object.keys(step).map((name) => `\`${name}\``)
    throw new Error(`${place}: one of ${keys.join(', ')} is needed; found ${found.join(', ') || 'nothing'}`)
  }
  const { value, beside } = shapes[key]
  const optional = Object.fromEntries(beside.map((extra) => [extra, extras[extra].optional()]))
  const read = parse(z.strictObject({ ...optional, [key]: value }), step, place) as Record<string, unknown>
  if (key === 'patch' && read.with === undefined) throw new Error(`${place}: patch needs \`with\``)
  if (read.background !== undefined && (read.expect !== undefined || read.save !== undefined)) {
    throw new Error(`${place}: in the background there is no answer yet; \`await\` it with expect and save`)
  }
  const { [key]: own, ...others } = read
  return { key, value: key === 'fault' ? readFault(own, `${place}.fault`) : own, ...others } as Step
}

function readFault(value: unknown, place: string): 'clear' | FaultRule {
  if (value === 'clear') return value
  const { first, ...rule } = parse(faultRule, value, place)
  if (!first) return rule
  const steps = first.map((item, index) => {
    const step = readStep(item, `${place}.first[${index}]`)
    if (!isClusterStep(step))
      throw new Error(`${place}.first[${index}]: ${step.key} is no step of the cluster`)
    return step
  })
  return { ...rule, first: steps }
}
