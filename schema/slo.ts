import type {
  Slo as SloFacts,
  SloStatistic as StatisticName,
  SloThreshold as ThresholdFacts,
} from '../services/slo/slo.ts'
import type { SetSloOutcome, SloReading, SloWritten } from '../services/slo/sloOutcome.ts'
import { builder } from './builder.ts'
import {
  ClusterUnavailableError,
  errorTypeName,
  ForbiddenError,
  InvalidInputError,
  ReadOnlyError,
  ReleaseNotFoundError,
  SloUnavailableError,
} from './errors.ts'
import { Run } from './run.ts'

const SloStatistic = builder.enumType('SloStatistic', {
  description: 'What of the measured times a threshold is for.',
  values: {
    AVG: { description: 'The average.' },
    P50: { description: 'The median.' },
    P80: { description: 'The 80th percentile.' },
    P90: { description: 'The 90th percentile.' },
    P95: { description: 'The 95th percentile.' },
    P99: { description: 'The 99th percentile.' },
  } satisfies Record<StatisticName, { description: string }>,
})

const SloThreshold = builder.objectRef<ThresholdFacts>('SloThreshold').implement({
  description: 'A threshold, in the unit of the SLO service; passed through.',
  fields: (t) => ({
    statistic: t.expose('statistic', { type: SloStatistic, description: 'What it is for.' }),
    threshold: t.exposeFloat('threshold', { description: 'The value.' }),
  }),
})

const Slo = builder.objectRef<SloFacts>('Slo').implement({
  description: 'The service level of a release, as the SLO service keeps it.',
  fields: (t) => ({
    highPriority: t.exposeBoolean('highPriority', {
      nullable: true,
      description: 'Whether it goes before others.',
    }),
    minimumReplicas: t.exposeInt('minimumReplicas', { nullable: true, description: 'Fewest replicas.' }),
    maximumReplicas: t.exposeInt('maximumReplicas', { nullable: true, description: 'Most replicas.' }),
    ttft: t.expose('ttft', {
      type: [SloThreshold],
      description: 'Thresholds of the time to the first token.',
    }),
    otps: t.expose('otps', {
      type: [SloThreshold],
      description: 'Thresholds of the output tokens per second.',
    }),
  }),
})

/** The configuration with its kind, by which the union tells its members apart. */
type ReadSlo = (SloFacts & { kind?: undefined }) | Extract<SloReading, { kind: 'SloUnavailable' }>

export const SloResult = builder.unionType('SloResult', {
  description: 'The service level, or why it could not be asked for.',
  types: [Slo, SloUnavailableError],
  resolveType: (result: ReadSlo) => (result.kind === undefined ? 'Slo' : errorTypeName(result.kind)),
})

const SloThresholdInput = builder.inputType('SloThresholdInput', {
  description: 'A threshold, in the unit of the SLO service.',
  fields: (t) => ({
    statistic: t.field({ type: SloStatistic, required: true, description: 'What it is for.' }),
    threshold: t.float({ required: true, description: 'The value; 0 or more.' }),
  }),
})

export const SetSloInput = builder.inputType('SetSloInput', {
  description: 'What to change; what is left out stays.',
  fields: (t) => ({
    namespace: t.string({ required: true, description: 'Namespace of the release.' }),
    name: t.string({ required: true, description: 'Name of the release.' }),
    route: t.string({ description: 'The name of the release; another one is refused.' }),
    priority: t.int({ description: 'Another spelling of highPriority: 10 is true, 0 is false.' }),
    highPriority: t.boolean({ description: 'Whether it goes before others.' }),
    minimumReplicas: t.int({ description: 'Fewest replicas; 0 or more.' }),
    maximumReplicas: t.int({ description: 'Most replicas; not fewer than the fewest.' }),
    ttft: t.field({
      type: [SloThresholdInput],
      description: 'Thresholds of the time to the first token; they replace those there are.',
    }),
    otps: t.field({
      type: [SloThresholdInput],
      description: 'Thresholds of the output tokens per second; they replace those there are.',
    }),
  }),
})

export const ResetSloInput = builder.inputType('ResetSloInput', {
  description: 'Which release.',
  fields: (t) => ({
    namespace: t.string({ required: true, description: 'Namespace of the release.' }),
    name: t.string({ required: true, description: 'Name of the release.' }),
  }),
})

const SetSloPayload = builder.objectRef<SloWritten>('SetSloPayload').implement({
  description: 'The SLO service has taken the change.',
  fields: (t) => ({
    slo: t.expose('slo', {
      type: Slo,
      nullable: true,
      description: 'Read anew; null when it has none, or they could not be read again.',
    }),
    run: t.expose('run', { type: Run, nullable: true, description: 'The run in the audit log.' }),
  }),
})

export const SetSloResult = builder.unionType('SetSloResult', {
  description: 'The change, or why there is none. May grow: select `... on UserError` for what is not named.',
  types: [
    SetSloPayload,
    ReleaseNotFoundError,
    SloUnavailableError,
    InvalidInputError,
    ForbiddenError,
    ReadOnlyError,
    ClusterUnavailableError,
  ],
  resolveType: (result: SetSloOutcome) =>
    result.kind === 'SetSlo' ? 'SetSloPayload' : errorTypeName(result.kind),
})
