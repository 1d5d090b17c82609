import type {
  RunAction as ActionName,
  RunOutcome as OutcomeName,
  Run as RunFacts,
  RunPage,
} from '../services/audit/run.ts'
import { builder } from './builder.ts'
import { Node } from './node.ts'
import { PageInfo } from './pageInfo.ts'
import { Backend } from './phase.ts'

export const RunAction = builder.enumType('RunAction', {
  description: 'What was done to a release.',
  values: {
    INSTALL: { description: 'Made for the first time.' },
    APPLY: { description: 'Changed to another plan.' },
    ROLLBACK: { description: 'Put back to an earlier revision.' },
    UNINSTALL: { description: 'Taken away.' },
    AUTOSCALE: { description: 'Scaled by the autoscaler.' },
    SET_AUTOSCALE: { description: 'Its autoscale policy was changed.' },
    SET_SLO: { description: 'Its service level thresholds were changed.' },
    RESET_SLO: { description: 'Its service level thresholds were put back to the defaults.' },
  } satisfies Record<ActionName, { description: string }>,
})

export const RunOutcome = builder.enumType('RunOutcome', {
  description: 'What has become of a run.',
  values: {
    STARTED: { description: 'It is not over.' },
    SUCCEEDED: { description: 'It did what was asked.' },
    FAILED: { description: 'It did not; `error` says why.' },
  } satisfies Record<OutcomeName, { description: string }>,
})

export const Run = builder.objectRef<RunFacts>('Run')

Run.implement({
  description:
    'One line of the audit log: an accepted operation that changed something. Refusals leave none.',
  interfaces: [Node],
  fields: (t) => ({
    namespace: t.exposeString('namespace', { description: 'Namespace of the release.' }),
    name: t.exposeString('name', { description: 'Name of the release.' }),
    backend: t.expose('backend', { type: Backend, description: 'What ran the release at that time.' }),
    action: t.expose('action', { type: RunAction, description: 'What was done.' }),
    outcome: t.expose('outcome', { type: RunOutcome, description: 'What has become of it.' }),
    actor: t.exposeString('actor', {
      nullable: true,
      description: 'Name of the caller; null when nobody asked Swiss.',
    }),
    note: t.exposeString('note', { nullable: true, description: 'The note given with the request.' }),
    planHash: t.exposeString('planHash', { nullable: true, description: 'Hash of the plan it was about.' }),
    revision: t.exposeInt('revision', { nullable: true, description: 'Revision it was about, or made.' }),
    changed: t.exposeBoolean('changed', { description: 'True when it changed something in the cluster.' }),
    error: t.exposeString('error', { nullable: true, description: 'What went wrong; bounded text.' }),
    output: t.exposeString('output', { nullable: true, description: 'What helm wrote; bounded text.' }),
    startedAt: t.expose('startedAt', { type: 'DateTime', description: 'When it was accepted.' }),
    endedAt: t.expose('endedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was over; null while it is not.',
    }),
  }),
})

export const RunFilter = builder.inputType('RunFilter', {
  description: 'All parts must fit; a part that is left out fits everything, an empty list nothing.',
  fields: (t) => ({
    namespace: t.string({ description: 'Of releases in this namespace.' }),
    name: t.string({ description: 'Of releases with this name.' }),
    actions: t.field({ type: [RunAction], description: 'One of these actions.' }),
    outcomes: t.field({ type: [RunOutcome], description: 'One of these outcomes.' }),
    actors: t.stringList({ description: 'By one of these callers.' }),
    backends: t.field({ type: [Backend], description: 'Of releases run by one of these.' }),
    since: t.field({ type: 'DateTime', description: 'Started at this moment or later.' }),
    until: t.field({ type: 'DateTime', description: 'Started before this moment.' }),
  }),
})

const RunEdge = builder.objectRef<RunPage['edges'][number]>('RunEdge').implement({
  description: 'A run and its place in the log.',
  fields: (t) => ({
    cursor: t.exposeString('cursor', { description: 'For `after`, with the same filter.' }),
    node: t.expose('run', { type: Run, description: 'The run.' }),
  }),
})

export const RunConnection = builder.objectRef<RunPage>('RunConnection').implement({
  description: 'A page of the audit log, newest first.',
  fields: (t) => ({
    edges: t.expose('edges', { type: [RunEdge], description: 'Runs with their cursors.' }),
    nodes: t.field({
      type: [Run],
      description: 'The runs alone.',
      resolve: (page) => page.edges.map((edge) => edge.run),
    }),
    pageInfo: t.field({ type: PageInfo, description: 'Where the page lies.', resolve: (page) => page }),
    available: t.exposeBoolean('available', {
      description: 'False when the audit store cannot be reached: an empty log, not an error.',
    }),
  }),
})
