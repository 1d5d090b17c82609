import { z } from 'zod'
import { isMap, type JsonMap } from './json.ts'
import { expectation, kind, ref, saysSomething, uint } from './scalars.ts'

export const verb = z.enum([
  'get',
  'list',
  'watch',
  'create',
  'update',
  'patch',
  'delete',
  'deletecollection',
])

const oneRelease = expectation.refine(
  (value) => isMap(value) && isText(value.namespace) && isText(value.name),
  'needs namespace and name',
) as z.ZodType<JsonMap & { namespace: string; name: string }>

const isText = (value: unknown) => typeof value === 'string' && value !== ''

const oneObject = expectation.superRefine((value, issues) => {
  const named = isMap(value) ? ref.safeParse(value.ref) : undefined
  if (!isMap(value) || !named?.success)
    issues.addIssue({ code: 'custom', message: 'needs a `ref` to an object' })
  else if (Object.keys(value).length === 1)
    issues.addIssue({ code: 'custom', message: 'expects nothing of it' })
}) as z.ZodType<JsonMap & { ref: string }>

const objects = z
  .strictObject({
    present: z.array(ref).optional(),
    absent: z.array(ref).optional(),
    match: z.array(oneObject).optional(),
  })
  .refine(saysSomething, 'expects nothing')

/** What must be true of the world after a step. */
export const check = z
  .strictObject({
    rows: expectation.optional(),
    row: oneRelease.optional(),
    release: oneRelease.optional(),
    objects: objects.optional(),
    runs: expectation.optional(),
    events: expectation.optional(),
    stream: z
      .record(z.string(), expectation)
      .refine((streams) => Object.keys(streams).length > 0, 'expects nothing')
      .optional(),
    helm: expectation.optional(),
    apiCalls: z.strictObject({ verb, kind, max: uint }).optional(),
  })
  .refine((value) => Object.values(value).some((item) => item !== undefined), 'expects nothing')
export type Check = z.infer<typeof check>
