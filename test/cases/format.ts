/**
 * The format of a case: one cluster, a few steps, what must be true after each. Everything is strict: a key that
 * is not known, or that would have no effect where it stands, is an error.
 */
import { z } from 'zod'
import { config, given } from './givenFormat.ts'
import { parse, text } from './scalars.ts'
import { readStep, type Step } from './stepFormat.ts'

const outline = z.strictObject({
  name: text.refine((name) => name.trim() === name && !name.includes('\n'), 'is not one line'),
  skip: text.optional(),
  config: config.default({}),
  given: given.prefault({}),
  steps: z.array(z.record(z.string(), z.unknown())).min(1),
})

/** A case that was read and found well formed. */
export interface Case extends Omit<z.infer<typeof outline>, 'steps'> {
  steps: Step[]
}

/** Reads a case from the plain data of its file. Throws an Error that names the place of each mistake. */
export function readCase(data: unknown): Case {
  const { steps: raw, ...rest } = parse(outline, data, '')
  const steps = raw.map((step, index) => readStep(step, `steps[${index}]`))
  if (!steps.some((step) => step.key === 'check' || 'expect' in step))
    throw new Error('steps: expect nothing')
  return { ...rest, steps }
}
