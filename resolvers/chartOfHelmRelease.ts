import { builder } from '../schema/builder.ts'
import { Chart } from '../schema/plan.ts'
import { HelmRelease } from '../schema/release.ts'
import { live } from './errors.ts'

builder.objectField(HelmRelease, 'chart', (t) =>
  t.field({
    type: Chart,
    nullable: true,
    description:
      'The chart in the record itself; null when the record cannot be decoded. Read live, only when it is selected. Errors: CLUSTER_UNAVAILABLE.',
    resolve: ({ ref }, _args, { details }) => live(() => details.helmChart(ref)),
  }),
)
