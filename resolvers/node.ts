import { z } from 'zod'
import { builder } from '../schema/builder.ts'
import { Node } from '../schema/node.ts'
import { parseNodeId } from '../schema/nodeId.ts'
import type { Run } from '../services/audit/run.ts'
import type { Row } from '../services/deployments/row.ts'
import type { GatewayContext } from './context.ts'
import { requireReady } from './errors.ts'
import { MAX_ENTRIES, parseArgs } from './input.ts'

/** What the id stands for, or null when it is malformed or that does not exist. */
function resolve(id: string, { lister, audit }: GatewayContext): Row | null | Promise<Run | null> {
  const key = parseNodeId(id)
  if (key === null) return null
  if (key.type === 'Run') return audit.get(key.id)
  requireReady(lister)
  return lister.get(key.ref) ?? null
}

const Args = z.object({
  ids: z.array(z.string()).max(MAX_ENTRIES, { error: `must have at most ${MAX_ENTRIES} entries` }),
})

builder.queryField('node', (t) =>
  t.field({
    type: Node,
    nullable: true,
    description: 'A deployment or a run by its id; null when there is none. Errors: CLUSTER_UNAVAILABLE.',
    args: { id: t.arg.id({ required: true, description: 'An id that this API gave.' }) },
    resolve: (_root, { id }, context) => resolve(id, context),
  }),
)

builder.queryField('nodes', (t) =>
  t.field({
    type: [Node],
    nullable: { list: false, items: true },
    description:
      'Deployments and runs by their ids, in the order of the ids, null where there is none. Errors: INVALID_INPUT, CLUSTER_UNAVAILABLE.',
    args: { ids: t.arg.idList({ required: true, description: 'Ids that this API gave; 500 at most.' }) },
    resolve: (_root, args, context) => parseArgs(Args, args).ids.map((id) => resolve(id, context)),
  }),
)
