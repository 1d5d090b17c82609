import type { PlanPart as PartName, PlanDifference } from '../services/plans/compose.ts'
import type { Shadowed } from '../services/plans/shadowed.ts'
import type { ComposedOutcome, ComposeOutcome } from '../services/releases/composeOutcome.ts'
import { builder } from './builder.ts'
import {
  ClusterUnavailableError,
  errorTypeName,
  ForbiddenError,
  InvalidInputError,
  ReadOnlyError,
  ReleaseNotFoundError,
} from './errors.ts'
import { Plan } from './plan.ts'

export const ComposePlanInput = builder.inputType('ComposePlanInput', {
  description:
    'What a plan is made from. One of fromRelease, plan and planYaml; form and edits each as JSON or as YAML. JSON loses digits of integers beyond 2^53, which are refused there; YAML keeps them.',
  fields: (t) => ({
    namespace: t.string({ required: true, description: 'Namespace of the release.' }),
    name: t.string({
      description:
        'Release that the plan is for; that of fromRelease, or the one the plan names, when absent.',
    }),
    fromRelease: t.string({ description: 'Release whose live plan it starts from.' }),
    plan: t.field({
      type: 'JSON',
      description:
        'A whole plan: release, source, chart, engine, profile, and layers as a list of {name, values} or as a map. Applied to a name without a release it is the install.',
    }),
    planYaml: t.string({ description: 'The same as YAML.' }),
    reuseSource: t.boolean({
      required: true,
      defaultValue: true,
      description:
        'Source, chart and the other layers stay as they are. Must be true: there are no catalogs yet.',
    }),
    form: t.field({
      type: 'JSON',
      description: 'Merged onto the form layer. A null stays, and takes the key and its default away.',
    }),
    formYaml: t.string({ description: 'The same as YAML.' }),
    edits: t.field({
      type: 'JSON',
      description: 'Replaces the edit layer: an empty object takes it away, nothing keeps it.',
    }),
    editsYaml: t.string({ description: 'The same as YAML.' }),
    chartVersion: t.string({ description: 'Another version of the chart.' }),
  }),
})

const ShadowedValue = builder.objectRef<Shadowed>('ShadowedValue').implement({
  description: 'A place where a later layer has another value than earlier ones, which have no effect there.',
  fields: (t) => ({
    path: t.exposeString('path', {
      description: 'Keys with dots between them; a dot within a key has a backslash before it, as for helm.',
    }),
    by: t.exposeString('by', { description: 'The layer that wins.' }),
    under: t.exposeStringList('under', { description: 'The layers that lose, in their order.' }),
  }),
})

const PlanPart = builder.enumType('PlanPart', {
  description: 'A part of a plan.',
  values: {
    VALUES: { description: 'The merged values.' },
    CHART: { description: 'The chart: name, version, repo or path.' },
    SOURCE: { description: 'Catalog entry, model, engine and profile.' },
  } satisfies Record<PartName, { description: string }>,
})

const ValueChange = builder.objectRef<PlanDifference>('ValueChange').implement({
  description: 'A value that differs from what runs.',
  fields: (t) => ({
    part: t.expose('part', { type: PlanPart, description: 'What the path is a path in.' }),
    path: t.exposeString('path', { description: 'As in ShadowedValue.' }),
    from: t.expose('from', {
      type: 'JSON',
      nullable: true,
      description: 'What runs; null also where there is none.',
    }),
    to: t.expose('to', {
      type: 'JSON',
      nullable: true,
      description: 'What the plan has; null also where it has none.',
    }),
  }),
})

const ComposePlanPayload = builder.objectRef<ComposedOutcome>('ComposePlanPayload').implement({
  description: 'The composed plan. It is kept for an hour, and applied by its hash.',
  fields: (t) => ({
    plan: t.expose('plan', { type: Plan, description: 'The plan.' }),
    shadowed: t.expose('shadowed', {
      type: [ShadowedValue],
      description: 'Which layer wins over which, sorted by path.',
    }),
    changes: t.expose('changes', {
      type: [ValueChange],
      description: 'What differs from the live plan of the release; everything where there is none.',
    }),
    warnings: t.exposeStringList('warnings', { description: 'What is worth a look, one sentence each.' }),
  }),
})

export const ComposePlanResult = builder.unionType('ComposePlanResult', {
  description:
    'The composed plan, or why there is none. May grow: select `... on UserError` for what is not named.',
  types: [
    ComposePlanPayload,
    ReleaseNotFoundError,
    InvalidInputError,
    ForbiddenError,
    ReadOnlyError,
    ClusterUnavailableError,
  ],
  resolveType: (result: ComposeOutcome) =>
    result.kind === 'Composed' ? 'ComposePlanPayload' : errorTypeName(result.kind),
})
