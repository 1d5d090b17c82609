import { builder } from '../schema/builder.ts'
import { Deployment } from '../schema/deployment.ts'
import { Release } from '../schema/release.ts'
import type { Row } from '../services/deployments/row.ts'
import type { ReleaseDetail } from '../services/releases/detailTypes.ts'

/** All that is known of a release that left between its row and the question for its detail. */
const gone = (row: Row): ReleaseDetail => ({
  namespace: row.namespace,
  name: row.name,
  row,
  exists: false,
  helm: null,
  planStatus: null,
  llmService: null,
  pods: [],
  plan: null,
  warnings: ['The release has left since this row was read.'],
})

builder.objectField(Deployment, 'release', (t) =>
  t.field({
    type: Release,
    description: 'Everything about it: helm status, plan, pods, revisions, runs.',
    resolve: (row, _args, { details }) => details.get(row) ?? gone(row),
  }),
)
