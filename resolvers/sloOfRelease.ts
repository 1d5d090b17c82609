import { builder } from '../schema/builder.ts'
import { Release } from '../schema/release.ts'
import { SloResult } from '../schema/slo.ts'

builder.objectField(Release, 'slo', (t) =>
  t.field({
    type: SloResult,
    nullable: true,
    description:
      'Null when the SLO service has no thresholds for it. The SLO service is asked only when this is selected.',
    resolve: async (detail, _args, { slo }) => {
      const reading = await slo.read({ namespace: detail.namespace, name: detail.name })
      return reading.kind === 'Slo' ? reading.slo : reading
    },
  }),
)
