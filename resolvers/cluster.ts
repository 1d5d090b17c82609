import { builder } from '../schema/builder.ts'
import { Cluster } from '../schema/cluster.ts'

builder.queryField('cluster', (t) =>
  t.field({
    type: Cluster,
    description: 'The cluster behind this gateway, and the gateway itself: versions, warnings, who leads.',
    resolve: (_root, _args, { cluster }) => cluster(),
  }),
)
