import SchemaBuilder from '@pothos/core'
import type { GatewayContext } from './context.ts'

/**
 * Every type of the schema is made with this one builder. Fields are non-null unless they say
 * `nullable: true`. No plug-ins: ids, connections and unions are a few lines each, and stay synchronous.
 */
export const builder = new SchemaBuilder<{
  Context: GatewayContext
  DefaultFieldNullability: false
  Scalars: {
    ID: { Input: string; Output: string }
    DateTime: { Input: string; Output: string }
    JSON: { Input: unknown; Output: unknown }
    Cursor: { Input: string; Output: string }
  }
}>({ defaultFieldNullability: false })

builder.queryType({
  description: 'Reads. They are answered from the watch caches unless a field says otherwise.',
})
builder.mutationType({
  description: 'Writes. Sent by POST only; each answers with a payload or a refusal that says why.',
})
builder.subscriptionType({ description: 'Streams, over graphql-ws and server-sent events.' })
