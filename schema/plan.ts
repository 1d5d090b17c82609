import type { Chart as ChartFacts, PlanSource as SourceFacts } from '../services/deployments/row.ts'
import type { PlanDetail } from '../services/releases/detailTypes.ts'
import { builder } from './builder.ts'

export const Chart = builder.objectRef<ChartFacts>('Chart').implement({
  description: 'The helm chart of a release.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name of the chart.' }),
    version: t.exposeString('version', {
      nullable: true,
      description: 'Version of the chart, when it is known.',
    }),
    repo: t.exposeString('repo', {
      nullable: true,
      description: 'Address of the chart repository; null for a chart from a path, or when it is not known.',
    }),
  }),
})

export const PlanSource = builder.objectRef<SourceFacts>('PlanSource').implement({
  description: 'Where a plan comes from: the catalog entry and the model. From the plan, or the LLMService.',
  fields: (t) => ({
    catalog: t.exposeString('catalog', { nullable: true, description: 'Address of the catalog.' }),
    catalogName: t.exposeString('catalogName', { nullable: true, description: 'Name of the catalog.' }),
    ref: t.exposeString('ref', { nullable: true, description: 'Revision of the catalog it was taken from.' }),
    model: t.exposeString('model', { nullable: true, description: 'Name of the model.' }),
    version: t.exposeString('version', { nullable: true, description: 'Version of the model entry.' }),
    variant: t.exposeString('variant', { nullable: true, description: 'Variant of the model entry.' }),
    hf: t.exposeString('hf', { nullable: true, description: 'Name of the model at Hugging Face.' }),
    engine: t.exposeString('engine', {
      nullable: true,
      description: 'Serving engine: `sglang`, `vllm` or another word of the catalog.',
    }),
  }),
})

const PlanLayer = builder.objectRef<PlanDetail['layers'][number]>('PlanLayer').implement({
  description: 'One layer of values of a plan.',
  fields: (t) => ({
    name: t.exposeString('name', {
      description: 'catalog, site, derived, form or edit; later layers win over earlier ones.',
    }),
    values: t.expose('values', { type: 'JSON', description: 'The values of this layer alone.' }),
  }),
})

export const Plan = builder.objectRef<PlanDetail>('Plan').implement({
  description: 'The full composed deploy document of a release.',
  fields: (t) => ({
    hash: t.exposeString('hash', { nullable: true, description: 'Hash of the plan, as it was composed.' }),
    engine: t.exposeString('engine', { nullable: true, description: 'Serving engine, `sglang` or `vllm`.' }),
    profile: t.exposeString('profile', {
      nullable: true,
      description: 'Name of the site profile it was made with.',
    }),
    chart: t.expose('chart', { type: Chart, nullable: true, description: 'The chart the plan names.' }),
    source: t.expose('source', {
      type: PlanSource,
      nullable: true,
      description: 'Where the plan comes from.',
    }),
    layers: t.expose('layers', {
      type: [PlanLayer],
      description: 'Non-empty value layers, in the order in which they are merged.',
    }),
    values: t.expose('values', {
      type: 'JSON',
      description:
        'The layers merged: maps merge, everything else replaces. A null makes helm drop the default.',
    }),
  }),
})
