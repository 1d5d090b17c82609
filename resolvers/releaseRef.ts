import { z } from 'zod'
import { builder } from '../schema/builder.ts'
import { namespaceName, releaseName } from './input.ts'

/** The two arguments that name a release. */
export const releaseArgs = builder.args((t) => ({
  namespace: t.string({ required: true, description: 'Namespace of the release.' }),
  name: t.string({ required: true, description: 'Name of the release.' }),
}))

export const ReleaseArgs = z.object({ namespace: namespaceName, name: releaseName })
