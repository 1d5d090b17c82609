import {
  type ASTVisitor,
  type DocumentNode,
  type FieldNode,
  GraphQLError,
  Kind,
  type ParseOptions,
  type SelectionSetNode,
  type ValidationContext,
} from 'graphql'

/** Longest body of a POST, in bytes. */
export const MAX_BODY_BYTES = 1024 * 1024

/**
 * What a document may ask for. GraphiQL's introspection and a client that selects every field stay far
 * below; a document made to hurt does not.
 */
export const PARSE_LIMITS: ParseOptions = {
  maxSourceLength: 100_000,
  maxLexicalTokens: 10_000,
  maxComments: 1_000,
}
const MAX_DEPTH = 20
const MAX_ALIASES = 50
/** Fields once all fragments are put in where they are spread. */
const MAX_FIELDS = 3_000

interface Size {
  depth: number
  aliases: number
  fields: number
}

const NOTHING: Size = { depth: 0, aliases: 0, fields: 0 }

/** A validation rule that refuses documents which are too deep, or too large once their fragments are put in. */
export function DocumentSizeRule(context: ValidationContext): ASTVisitor {
  const fragments = new Map<string, Size>()

  const sizeOfFragment = (name: string): Size => {
    const known = fragments.get(name)
    if (known) return known
    // A fragment that spreads itself is refused by a rule of graphql-js; here it only must not hang.
    fragments.set(name, NOTHING)
    const fragment = context.getFragment(name)
    const size = fragment ? sizeOf(fragment.selectionSet) : NOTHING
    fragments.set(name, size)
    return size
  }

  const sizeOfField = (field: FieldNode): Size => {
    const inner = field.selectionSet ? sizeOf(field.selectionSet) : NOTHING
    return {
      depth: inner.depth + 1,
      aliases: inner.aliases + (field.alias ? 1 : 0),
      fields: inner.fields + 1,
    }
  }

  const sizeOf = (set: SelectionSetNode): Size => {
    const total = { ...NOTHING }
    for (const selection of set.selections) {
      const size =
        selection.kind === Kind.FIELD
          ? sizeOfField(selection)
          : selection.kind === Kind.FRAGMENT_SPREAD
            ? sizeOfFragment(selection.name.value)
            : sizeOf(selection.selectionSet)
      total.depth = Math.max(total.depth, size.depth)
      total.aliases += size.aliases
      total.fields += size.fields
    }
    return total
  }

  return {
    OperationDefinition(operation) {
      const { depth, aliases, fields } = sizeOf(operation.selectionSet)
      const refuse = (message: string) =>
        context.reportError(
          new GraphQLError(message, { nodes: operation, extensions: { code: 'DOCUMENT_TOO_LARGE' } }),
        )
      if (depth > MAX_DEPTH) refuse(`The operation is ${depth} levels deep; ${MAX_DEPTH} are allowed.`)
      if (aliases > MAX_ALIASES) refuse(`The operation has ${aliases} aliases; ${MAX_ALIASES} are allowed.`)
      if (fields > MAX_FIELDS) refuse(`The operation selects ${fields} fields; ${MAX_FIELDS} are allowed.`)
    },
  }
}

/** Parsed documents, the last used ones. Bounded by text as well as number: a client chooses the documents. */
export class DocumentCache {
  static readonly #MOST = 500
  static readonly #LONGEST = 20_000
  readonly #documents = new Map<string, DocumentNode>()

  get(source: string): DocumentNode | undefined {
    const document = this.#documents.get(source)
    if (document) {
      this.#documents.delete(source)
      this.#documents.set(source, document)
    }
    return document
  }

  set(source: string, document: DocumentNode): void {
    if (source.length > DocumentCache.#LONGEST) return
    this.#documents.set(source, document)
    const [oldest] = this.#documents.keys()
    if (this.#documents.size > DocumentCache.#MOST && oldest !== undefined) this.#documents.delete(oldest)
  }
}
