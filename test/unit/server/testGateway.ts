import { buildSchema, GraphQLError, type GraphQLObjectType, type GraphQLSchema } from 'graphql'
import { type HttpServer, type HttpServerOptions, startHttpServer } from '../../../server/http.ts'
import type { RequestInfo } from '../../../server/pipeline.ts'
import type { Actor } from '../../../services/auth/actor.ts'
import { Feed } from '../../../subscriptions/feed.ts'
import {
  deploymentPhaseChanged,
  PhaseStream,
  type PhaseStreamArgs,
} from '../../../subscriptions/phaseStream.ts'
import { FakeClock } from '../subscriptions/fakeClock.ts'
import { FakeLister } from '../subscriptions/fakeLister.ts'

const SDL = /* GraphQL */ `
  type Query {
    hello(name: String): String!
    boom: String
    refused: String
    held: String
    whoami: String!
    tree: Tree!
  }
  type Tree { tree: Tree!, leaf: String! }
  type Mutation { write(text: String!): String! }
  enum Phase { APPLYING APPLIED FAILED UNINSTALLING UNKNOWN }
  input DeploymentFilter { search: String, namespaces: [String!], phases: [Phase!] }
  type Subscription {
    deploymentPhaseChanged(
      filter: DeploymentFilter
      namespace: String
      name: String
      since: String
      snapshot: Boolean! = false
    ): PhaseEvent!
    custom: String
  }
  type Deployment { namespace: String!, name: String!, phase: String! }
  type PhaseEvent {
    kind: String!
    cursor: String!
    at: String!
    namespace: String
    name: String
    previousPhase: String
    phase: String
    reason: String
    goneBecause: String
    deployment: Deployment
  }
`

export interface TestContext extends RequestInfo {
  actor: Actor
}

/** What the tests turn: the view, the log, and the answers of the fields made for them. */
export interface TestGateway extends HttpServer {
  lister: FakeLister
  feed: Feed
  /** The clock of the view and its streams. */
  clock: FakeClock
  log: { level: string; fields: object; message: string }[]
  /** Context of the newest operation. */
  context: TestContext | null
  /** Answers `held`. */
  held: Promise<string>
  /** The source of `custom`. */
  source: () => AsyncIterable<unknown>
}

/** The HTTP side with a small schema on a free port, over a view that the test moves. */
export async function startTestGateway(options: Partial<HttpServerOptions> = {}): Promise<TestGateway> {
  const clock = new FakeClock()
  const lister = new FakeLister()
  const feed = new Feed({ lister, clock, epoch: 'e1', capacity: 100 })
  const log: TestGateway['log'] = []
  const logAs = (level: string) => (fields: object, message: string) => {
    log.push({ level, fields, message })
  }
  const state = {
    lister,
    feed,
    clock,
    log,
    context: null as TestContext | null,
    held: Promise.resolve('held'),
    source: (): AsyncIterable<unknown> => {
      throw new Error('the test has set no source')
    },
  }
  const server = await startHttpServer({
    schema: makeSchema(state),
    contextFor: (actor, info) => {
      state.context = { actor, ...info }
      return state.context
    },
    authenticate: () => ({ name: 'tester', groups: [] }),
    health: () => ({ live: true, ready: true, report: {} }),
    logger: { debug: logAs('debug'), info: logAs('info'), warn: logAs('warn'), error: logAs('error') },
    host: '127.0.0.1',
    port: 0,
    graphiql: false,
    ...options,
  })
  return Object.assign(state, server)
}

function makeSchema(state: Pick<TestGateway, 'feed' | 'held' | 'source'>): GraphQLSchema {
  const schema = buildSchema(SDL)
  const field = (type: string, name: string) => {
    const found = (schema.getType(type) as GraphQLObjectType).getFields()[name]
    if (!found) throw new Error(`no field ${type}.${name}`)
    return found
  }
  field('Query', 'hello').resolve = (_root, { name }) => `hello ${name ?? 'world'}`
  field('Query', 'boom').resolve = () => {
    throw new Error('a secret of the inside')
  }
  field('Query', 'refused').resolve = () => {
    throw new GraphQLError('You may not.', { extensions: { code: 'FORBIDDEN' } })
  }
  field('Query', 'held').resolve = () => state.held
  field('Query', 'whoami').resolve = (_root, _args, context: TestContext) => context.actor.name
  field('Query', 'tree').resolve = () => ({})
  field('Tree', 'tree').resolve = () => ({})
  field('Tree', 'leaf').resolve = () => 'leaf'
  field('Mutation', 'write').resolve = (_root, { text }) => text

  const phases = field('Subscription', 'deploymentPhaseChanged')
  phases.subscribe = (_root, args: PhaseStreamArgs, context: TestContext) => {
    const stream = deploymentPhaseChanged(state.feed, { ...args, lastEventId: context.lastEventId })
    if (stream instanceof PhaseStream) return stream
    throw new GraphQLError(stream.message, { extensions: { code: stream.refused } })
  }
  phases.resolve = (event) => event
  field('Subscription', 'custom').subscribe = () => state.source()
  field('Subscription', 'custom').resolve = (event) => {
    if (event instanceof Error) throw event
    return event.text
  }
  return schema
}
