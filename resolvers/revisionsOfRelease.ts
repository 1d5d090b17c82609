import { z } from 'zod'
import { builder } from '../schema/builder.ts'
import { Release } from '../schema/release.ts'
import { RevisionConnection, type RevisionPage } from '../schema/revision.ts'
import type { RevisionDetail } from '../services/releases/detailTypes.ts'
import { invalidInput, live } from './errors.ts'
import { optional, pageSize, parseArgs } from './input.ts'

const cursorOf = ({ revision }: RevisionDetail): string =>
  Buffer.from(`revision:${revision}`).toString('base64url')

/** The revision a cursor stands behind; throws for a text that is no cursor of this list. */
function parseCursor(cursor: string): number {
  const [, digits] = /^revision:(\d{1,15})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1')) ?? []
  if (digits === undefined) throw invalidInput('after must be a cursor of the revisions of a release.')
  return Number(digits)
}

/** Cuts a page out of the revisions, newest first; a cursor stays good when newer ones come. */
function cutPage(all: readonly RevisionDetail[], first: number, after: number | null): RevisionPage {
  const behind = after === null ? all : all.filter(({ revision }) => revision < after)
  return {
    edges: behind.slice(0, first).map((node) => ({ cursor: cursorOf(node), node })),
    hasNextPage: behind.length > first,
    hasPreviousPage: behind.length < all.length,
    totalCount: all.length,
  }
}

const Args = z.object({
  first: optional(pageSize).transform((first) => first ?? 20),
  after: optional(z.string()),
})

builder.objectField(Release, 'revisions', (t) =>
  t.field({
    type: RevisionConnection,
    description:
      'The live revision and those that can be brought back, newest first: archived plans, or what the operator of an LLMService has kept. Read live, only when it is selected. Errors: INVALID_INPUT, CLUSTER_UNAVAILABLE.',
    args: {
      first: t.arg.int({ defaultValue: 20, description: 'So many at most; 0 to 500.' }),
      after: t.arg.string({ description: 'Only what follows this cursor.' }),
    },
    resolve: async (detail, args, { details }) => {
      const { first, after } = parseArgs(Args, args)
      const from = after === undefined ? null : parseCursor(after)
      return cutPage(await live(() => details.revisions(detail)), first, from)
    },
  }),
)
