import { builder } from '../schema/builder.ts'
import { parseNodeId } from '../schema/nodeId.ts'
import { Run } from '../schema/run.ts'

builder.queryField('run', (t) =>
  t.field({
    type: Run,
    nullable: true,
    description: 'One run by its id; null when there is none, or the audit store cannot be reached.',
    args: { id: t.arg.id({ required: true, description: 'The opaque `id` of a Run.' }) },
    resolve: (_root, { id }, { audit }) => {
      const key = parseNodeId(id)
      return key?.type === 'Run' ? audit.get(key.id) : null
    },
  }),
)
