import {
  type GraphQLField,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isObjectType,
  Kind,
  parse,
  print,
  visit,
} from 'graphql'
import { isMap, type Json, type JsonMap } from './json.ts'
import { selectAll, withoutAliases } from './selection.ts'
import { GraphqlSocket } from './socket.ts'
import type { Caller } from './stepFormat.ts'

/** Kinds of messages that are about the stream itself; checks leave them out. */
const aboutTheStream = new Set<Json | undefined>(['BOOKMARK', 'SNAPSHOT_COMPLETE'])

const kindAlias = 'kindOfMessage__'

/** The subscription whose events `check: {events}` looks at: no filter, no start, no snapshot. */
export function defaultDocument(schema: GraphQLSchema): string {
  const field = schema.getSubscriptionType()?.getFields().deploymentPhaseChanged
  if (!field) throw new Error('the schema has no subscription deploymentPhaseChanged')
  return `subscription { deploymentPhaseChanged ${selectAll(schema, getNamedType(field.type), undefined)} }`
}

/** One subscription on one gateway, and the data that has come since the last look. */
export class Subscription {
  readonly #socket: GraphqlSocket
  #messages: Json[] = []
  #trouble: string | undefined
  #ended = false

  private constructor(socket: GraphqlSocket) {
    this.#socket = socket
  }

  /** Sends the document. What comes back is only known after `drain`. */
  static async start(
    schema: GraphQLSchema,
    url: string,
    caller: Caller,
    document: { query: string; variables?: JsonMap },
  ): Promise<Subscription> {
    const socket = await GraphqlSocket.open(url, caller)
    const subscription = new Subscription(socket)
    socket.subscribe(
      { ...document, query: askForKind(schema, document.query) },
      {
        next: ({ data, errors }) => subscription.#next(data ?? null, errors),
        end: (refusal) => {
          subscription.#ended = true
          if (refusal !== undefined) subscription.#trouble ??= `refused: ${JSON.stringify(refusal)}`
          if (socket.closed !== undefined) subscription.#trouble ??= `closed by the gateway: ${socket.closed}`
        },
      },
    )
    return subscription
  }

  /** No more will come: completed, refused or cut. */
  get ended(): boolean {
    return this.#ended
  }

  /** What went wrong with it, or undefined. */
  get trouble(): string | undefined {
    return this.#trouble
  }

  drain(): Promise<void> {
    return this.#socket.drain()
  }

  /** The data of the messages since the last look, in order. */
  look(): Json[] {
    const messages = this.#messages
    this.#messages = []
    return messages
  }

  stop(): void {
    this.#socket.terminate()
  }

  #next(data: Json, errors: Json | undefined): void {
    if (errors !== undefined) this.#trouble ??= `errors in a message: ${JSON.stringify(errors)}`
    const root = isMap(data) ? Object.values(data)[0] : undefined
    if (isMap(root) && aboutTheStream.has(root[kindAlias])) return
    this.#messages.push(withoutAliases(withoutKind(data)))
  }
}

/** A field of the event that can say BOOKMARK, be it called `kind`, `change` or anything else. */
function kindField(field: GraphQLField<unknown, unknown> | undefined): string | undefined {
  const type = field && getNamedType(field.type)
  if (!isObjectType(type)) return undefined
  return Object.values(type.getFields()).find((candidate) => {
    const leaf = getNamedType(candidate.type)
    return isEnumType(leaf) && leaf.getValue('BOOKMARK') !== undefined
  })?.name
}

/**
 * Adds the kind of each message to a document that does not ask for it, so that bookmarks can be told from
 * events. What cannot be parsed is sent as it is: the gateway has the word.
 */
function askForKind(schema: GraphQLSchema, query: string): string {
  const fields = schema.getSubscriptionType()?.getFields() ?? {}
  try {
    return print(
      visit(parse(query), {
        OperationDefinition: (operation) => ({
          ...operation,
          selectionSet: {
            ...operation.selectionSet,
            selections: operation.selectionSet.selections.map((root) => {
              if (root.kind !== Kind.FIELD || !root.selectionSet) return root
              const kind = kindField(fields[root.name.value])
              if (kind === undefined) return root
              const extra = {
                kind: Kind.FIELD,
                alias: { kind: Kind.NAME, value: kindAlias },
                name: { kind: Kind.NAME, value: kind },
              } as const
              const selections = [...root.selectionSet.selections, extra]
              return { ...root, selectionSet: { ...root.selectionSet, selections } }
            }),
          },
        }),
      }),
    )
  } catch {
    return query
  }
}

function withoutKind(data: Json): Json {
  if (!isMap(data)) return data
  return Object.fromEntries(
    Object.entries(data).map(([key, root]) => {
      if (!isMap(root)) return [key, root]
      const { [kindAlias]: _, ...rest } = root
      return [key, rest]
    }),
  )
}
