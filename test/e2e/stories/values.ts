// Layers merged by us are what the real helm makes of the same value files: null included, types and digits too.
import assert from 'node:assert/strict'
import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { parse } from 'yaml'
import { mergeValues } from '../../../services/plans/document.ts'
import type { PlanMap, PlanValue } from '../../../services/plans/scalars.ts'
import { writeYaml } from '../../../services/plans/yaml.ts'
import { asHelmShows, readRecordings } from '../../unit/support/helmValues.ts'
import { valueLayers } from '../../unit/support/valueLayers.ts'
import type { Story, StoryContext } from '../story.ts'

export const values: Story = { name: 'values', helm: ['4', '3'], run }

const CASES = 300

async function run(context: StoryContext): Promise<void> {
  const chart = join(context.dir, 'values-chart')
  cpSync(join(import.meta.dirname, '..', 'valuesChart'), chart, { recursive: true })
  const merge = (layers: readonly PlanMap[]) => layers.reduce<PlanMap>(mergeValues, {})

  for (const { what, layers, values } of readRecordings()) {
    const shown = await template(context, chart, layers)
    assert.deepEqual(shown, values, `${what}: helm says ${JSON.stringify(shown)}`)
  }

  // Each case has a key of its own in every file, so that one run of helm has them all.
  const seed = Date.now() % 1_000_000
  const cases = fc.sample(valueLayers, { numRuns: CASES, seed })
  const most = Math.max(...cases.map((layers) => layers.length))
  const files = Array.from({ length: most }, (_, at) => keyed(cases.map((layers) => layers[at] ?? {})))
  const shown = await template(context, chart, files.map(writeYaml))
  for (const [at, layers] of cases.entries()) {
    const wanted = asHelmShows(merge(layers))
    assert.deepEqual(
      shown[`case${at}`],
      wanted,
      `seed ${seed}, case ${at}: ${layers.map(writeYaml).join('---\n')}`,
    )
  }

  // A null takes the chart's default away in just the same way, whether it comes in layers or merged.
  const defaults = keyed(cases.map((layers) => layers.at(-1) ?? {}))
  writeFileSync(join(chart, 'values.yaml'), writeYaml(defaults))
  const below = files.slice(0, -1)
  assert.deepEqual(
    await template(context, chart, below.map(writeYaml)),
    await template(context, chart, [writeYaml(merge(below))]),
    `seed ${seed}, with defaults`,
  )
  if (context.helmMajor === '4') await keepsDigits(context)
  context.note(`${CASES} plans merged as helm does, and ${readRecordings().length} that are recorded`)
}

/** An integer beyond 2^53 is still itself in an LLMService that was read, composed, applied and written back. */
async function keepsDigits(context: StoryContext): Promise<void> {
  const { namespace, dir, kubectl } = context
  const file = join(dir, 'digits.yaml')
  writeFileSync(
    file,
    `apiVersion: serving.modelsphere.dev/v1alpha1
kind: LLMService
metadata: {name: digits, namespace: ${namespace}, annotations: {swiss.modelsphere.dev/profile: lab}}
spec: {chart: {name: vllm, version: 0.4.0}, layers: [{name: site, values: {seed: 9007199254740993}}]}
`,
  )
  await kubectl('apply', '-f', file)
  const gateway = await context.gateway()
  const { composePlan } = await gateway.ask<{ composePlan: { plan: { hash: string; values: object } } }>(
    `mutation ($input: ComposePlanInput!) {
      composePlan(input: $input) { ... on ComposePlanPayload { plan { hash values } } ... on UserError { message } } }`,
    { input: { namespace, fromRelease: 'digits', formYaml: 'more: 9007199254740995' } },
  )
  assert.deepEqual(composePlan.plan?.values, { seed: '9007199254740993', more: '9007199254740995' })
  const { applyPlan } = await gateway.ask<{ applyPlan: { __typename: string } }>(
    'mutation ($input: ApplyPlanInput!) { applyPlan(input: $input) { __typename ... on UserError { message } } }',
    { input: { namespace, name: 'digits', planHash: composePlan.plan.hash } },
  )
  assert.equal(applyPlan.__typename, 'ApplyPlanPayload', JSON.stringify(applyPlan))
  const written = await kubectl('get', 'llmservices', 'digits', '-n', namespace, '-o', 'json')
  for (const digits of ['"seed": 9007199254740993', '"more": 9007199254740995'])
    assert(written.includes(digits), written)
  await kubectl('delete', '-f', file)
}

const keyed = (maps: PlanMap[]): PlanMap =>
  Object.fromEntries(maps.map((map, at): [string, PlanValue] => [`case${at}`, map]))

/** What the chart sees of value files, in their order. */
async function template(
  { helm, dir }: StoryContext,
  chart: string,
  texts: readonly string[],
): Promise<Record<string, unknown>> {
  const files = texts.map((text, at) => {
    const file = join(dir, `${at + 1}.yaml`)
    writeFileSync(file, text)
    return file
  })
  const manifest = parse(await helm('template', 'values', chart, ...files.flatMap((file) => ['-f', file])))
  return JSON.parse(manifest.data.values)
}
