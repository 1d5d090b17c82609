import { z } from 'zod'
import { builder } from '../schema/builder.ts'
import { DeletionEvent } from '../schema/deletionEvent.ts'
import { deletionProgressed } from '../subscriptions/deletionStream.ts'
import { begun } from './errors.ts'
import { optional, parseArgs } from './input.ts'
import { ReleaseArgs, releaseArgs } from './releaseRef.ts'

const Args = ReleaseArgs.extend({ since: optional(z.string()) })

builder.subscriptionField('deletionProgressed', (t) =>
  t.field({
    type: DeletionEvent,
    description:
      'The uninstall of one release, step by step: first how it stands, then each change. Completes after the event that ends it (GONE, FAILED), and without an event when the release is not being uninstalled; says nothing about a later release of the name. With `since` it tells what came after that cursor instead, and follows the first uninstall that it finds there: with the cursor of `uninstallRelease` nothing of it is missed. A cursor that is too old is as good as none. Errors: INVALID_INPUT, CLUSTER_UNAVAILABLE while the caches are not filled.',
    args: {
      ...releaseArgs,
      since: t.arg({ type: 'Cursor', description: 'Go on after this position.' }),
    },
    subscribe: (_root, args, { feed, lastEventId }) =>
      begun(deletionProgressed(feed, { ...parseArgs(Args, args), lastEventId })),
    resolve: (event) => event,
  }),
)
