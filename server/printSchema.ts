import { printSchema } from 'graphql'
import { schema } from '../resolvers/index.ts'

/** Prints the schema, which is what `schema.graphql` holds. */
process.stdout.write(`${printSchema(schema)}\n`)
