import type { RevisionDetail } from '../services/releases/detailTypes.ts'
import { builder } from './builder.ts'
import { type Paged, PageInfo } from './pageInfo.ts'
import { Chart, Plan, PlanSource } from './plan.ts'

const Revision = builder.objectRef<RevisionDetail>('Revision').implement({
  description: 'A revision of a release: the live one, or one whose plan is kept.',
  fields: (t) => ({
    revision: t.exposeInt('revision', { description: 'Its number; 1 is the first.' }),
    current: t.exposeBoolean('current', { description: 'True for the live revision.' }),
    chart: t.expose('chart', { type: Chart, nullable: true, description: 'Chart of that revision.' }),
    source: t.expose('source', { type: PlanSource, nullable: true, description: 'Catalog entry and model.' }),
    planHash: t.exposeString('planHash', { nullable: true, description: 'Hash of its plan.' }),
    plan: t.expose('plan', {
      type: Plan,
      nullable: true,
      description: 'Its plan; null when that is not kept or cannot be read.',
    }),
  }),
})

const RevisionEdge = builder.objectRef<{ cursor: string; node: RevisionDetail }>('RevisionEdge').implement({
  description: 'A revision and its place in the history.',
  fields: (t) => ({
    cursor: t.exposeString('cursor', { description: 'For `after`.' }),
    node: t.expose('node', { type: Revision, description: 'The revision.' }),
  }),
})

export interface RevisionPage extends Paged {
  edges: readonly { cursor: string; node: RevisionDetail }[]
  totalCount: number
}

export const RevisionConnection = builder.objectRef<RevisionPage>('RevisionConnection').implement({
  description: 'A page of the revisions, newest first.',
  fields: (t) => ({
    edges: t.field({
      type: [RevisionEdge],
      description: 'Revisions with their cursors.',
      resolve: (page) => page.edges,
    }),
    nodes: t.field({
      type: [Revision],
      description: 'The revisions alone.',
      resolve: (page) => page.edges.map((edge) => edge.node),
    }),
    pageInfo: t.field({ type: PageInfo, description: 'Where the page lies.', resolve: (page) => page }),
    totalCount: t.exposeInt('totalCount', { description: 'Revisions that are known, on all pages.' }),
  }),
})
