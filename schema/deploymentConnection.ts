import type { OrderField, Page } from '../services/deployments/lister.ts'
import type { DeploymentPhase as Phase, Row } from '../services/deployments/row.ts'
import { builder } from './builder.ts'
import { CanaryState } from './canary.ts'
import { Deployment } from './deployment.ts'
import { PageInfo } from './pageInfo.ts'
import { Backend, DeploymentPhase } from './phase.ts'

export const DeploymentFilter = builder.inputType('DeploymentFilter', {
  description: 'All parts must fit; a part that is left out fits everything, an empty list nothing.',
  fields: (t) => ({
    search: t.string({ description: 'Part of the namespace, the name or the model; case does not matter.' }),
    namespaces: t.stringList({ description: 'In one of these namespaces.' }),
    phases: t.field({ type: [DeploymentPhase], description: 'In one of these phases.' }),
    backends: t.field({ type: [Backend], description: 'Run by one of these.' }),
    canaryStates: t.field({ type: [CanaryState], description: 'LLMServices in one of these canary states.' }),
    models: t.stringList({ description: 'With one of these models, by exact name.' }),
    engines: t.stringList({ description: 'With one of these serving engines, by exact name.' }),
    drifted: t.boolean({ description: 'True: only rows with a drift; false: only rows without one.' }),
    uninstallingBefore: t.field({ type: 'DateTime', description: 'Uninstalling since before this moment.' }),
  }),
})

const DeploymentOrderField = builder.enumType('DeploymentOrderField', {
  description: 'What the list is ordered by. Ties are ordered by namespace and name.',
  values: {
    NAMESPACE_NAME: { description: 'Namespace, then name.' },
    NAME: { description: 'Name.' },
    UPDATED_AT: { description: 'When the last operation changed it.' },
    PHASE: { description: 'Phase.' },
    UNINSTALLING_SINCE: { description: 'When its uninstall began.' },
  } satisfies Record<OrderField, { description: string }>,
})

const OrderDirection = builder.enumType('OrderDirection', {
  description: 'Which end comes first.',
  values: {
    ASC: { description: 'Smallest or oldest first.' },
    DESC: { description: 'Largest or newest first.' },
  },
})

export const DeploymentOrder = builder.inputType('DeploymentOrder', {
  description: 'How the list is ordered.',
  fields: (t) => ({
    field: t.field({
      type: DeploymentOrderField,
      required: true,
      defaultValue: 'NAMESPACE_NAME',
      description: 'What to order by.',
    }),
    direction: t.field({
      type: OrderDirection,
      required: true,
      defaultValue: 'ASC',
      description: 'Which end comes first.',
    }),
  }),
})

const DeploymentEdge = builder.objectRef<{ cursor: string; node: Row }>('DeploymentEdge').implement({
  description: 'A row and its place in the list.',
  fields: (t) => ({
    cursor: t.exposeString('cursor', {
      description: 'For `after` and `before`, with the same filter and order.',
    }),
    node: t.expose('node', { type: Deployment, description: 'The row.' }),
  }),
})

const PhaseCount = builder.objectRef<{ phase: Phase; count: number }>('PhaseCount').implement({
  description: 'How many rows are in a phase.',
  fields: (t) => ({
    phase: t.expose('phase', { type: DeploymentPhase, description: 'The phase.' }),
    count: t.exposeInt('count', { description: 'Rows in that phase; never 0.' }),
  }),
})

/** A page of rows with the feed position it shows, as a cursor. */
type DeploymentPage = Omit<Page, 'position'> & { cursor: string }

export const DeploymentConnection = builder.objectRef<DeploymentPage>('DeploymentConnection').implement({
  description: 'A page of the list.',
  fields: (t) => ({
    edges: t.expose('edges', { type: [DeploymentEdge], description: 'Rows with their cursors.' }),
    nodes: t.field({
      type: [Deployment],
      description: 'The rows alone.',
      resolve: (page) => page.edges.map((edge) => edge.node),
    }),
    pageInfo: t.field({ type: PageInfo, description: 'Where the page lies.', resolve: (page) => page }),
    totalCount: t.exposeInt('totalCount', { description: 'Rows that fit the filter, on all pages.' }),
    countsByPhase: t.expose('countsByPhase', {
      type: [PhaseCount],
      description: 'The same rows by phase; phases with no row are left out.',
    }),
    cursor: t.expose('cursor', {
      type: 'Cursor',
      description:
        "Feed position that this page shows. Pass it to a subscription's `since`: nothing is lost between the query and the stream.",
    }),
  }),
})
