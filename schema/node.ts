import type { Run } from '../services/audit/run.ts'
import type { Row } from '../services/deployments/row.ts'
import { builder } from './builder.ts'
import { deploymentId, runId } from './nodeId.ts'

/** A row of the list or a line of the audit log; only the latter has an action. */
const isRun = (node: Row | Run): node is Run => 'action' in node

export const Node = builder.interfaceRef<Row | Run>('Node')

Node.implement({
  description: 'What can be asked for again by its id alone, with `node` or `nodes`.',
  resolveType: (node) => (isRun(node) ? 'Run' : 'Deployment'),
  fields: (t) => ({
    id: t.id({
      description:
        "Opaque and stable. A deployment's is the same when a release is made again under its name; `uid` tells them apart.",
      resolve: (node) => (isRun(node) ? runId(node) : deploymentId(node)),
    }),
  }),
})
