import { builder } from '../schema/builder.ts'
import { Viewer } from '../schema/viewer.ts'

builder.queryField('viewer', (t) =>
  t.field({
    type: Viewer,
    description: 'The caller, as the gateway sees it.',
    resolve: (_root, _args, { actor, authDisabled }) => ({ ...actor, authDisabled }),
  }),
)
