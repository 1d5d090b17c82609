import { z } from 'zod'
import { chart, manifest, text, texts, time, uint } from './scalars.ts'

const revision = z.int().min(1)

const helmStatus = z.enum([
  'deployed',
  'failed',
  'pending-install',
  'pending-upgrade',
  'pending-rollback',
  'uninstalling',
  'uninstalled',
  'superseded',
])

const helm = z.strictObject({ namespace: text, name: text, revision, status: helmStatus, chart })

const plan = z.strictObject({
  namespace: text,
  name: text,
  phase: z.enum(['applying', 'applied', 'failed', 'uninstalling']),
  revision: revision.optional(),
  chart,
  labels: texts.default({}),
})

const pod = z.strictObject({
  namespace: text,
  name: text,
  labels: texts.default({}),
  annotations: texts.default({}),
  node: text.optional(),
  grace: uint.optional(),
  finalizers: z.array(text).default([]),
  phase: z.enum(['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown']).default('Running'),
  ready: z.boolean().default(true),
})

/** The cluster as a case finds it. */
export const given = z.strictObject({
  now: time.default('2031-01-01T00:00:00Z'),
  nodes: z.array(z.strictObject({ name: text, ready: z.boolean().default(true) })).default([]),
  crds: z.array(text).default(['LLMService']),
  helm: z.array(helm).default([]),
  plans: z.array(plan).default([]),
  archives: z
    .array(z.strictObject({ namespace: text, name: text, revisions: z.array(revision).min(1) }))
    .default([]),
  autoscale: z.array(z.strictObject({ namespace: text, name: text })).default([]),
  pods: z.array(pod).default([]),
  objects: z.array(manifest).default([]),
})
export type Given = z.infer<typeof given>

/** What a case may say about the gateway's own settings. */
export const config = z.strictObject({
  readOnly: z.boolean().optional(),
  namespaces: z.array(text).min(1).optional(),
  /** The gateways have a Prometheus; steps `metrics` say what it knows. */
  prometheus: z.literal(true).optional(),
  canaryKeys: z
    .strictObject({
      ownerKind: text,
      canaryLabel: text,
      namespaceLabel: text,
      roleLabel: text,
      assignmentAnnotation: text,
    })
    .optional(),
})
export type CaseConfig = z.infer<typeof config>
