import { builder } from './builder.ts'

/** Edges with their cursors, and whether more lies on either side: what every connection is made of. */
export interface Paged {
  edges: readonly { cursor: string }[]
  hasNextPage: boolean
  hasPreviousPage: boolean
}

export const PageInfo = builder.objectRef<Paged>('PageInfo').implement({
  description: 'Where a page lies in its list.',
  fields: (t) => ({
    hasNextPage: t.exposeBoolean('hasNextPage', { description: 'True when more edges follow this page.' }),
    hasPreviousPage: t.exposeBoolean('hasPreviousPage', {
      description: 'True when more edges come before this page.',
    }),
    startCursor: t.string({
      nullable: true,
      description: 'Cursor of the first edge, for `before`; null on an empty page.',
      resolve: (page) => page.edges[0]?.cursor ?? null,
    }),
    endCursor: t.string({
      nullable: true,
      description: 'Cursor of the last edge, for `after`; null on an empty page.',
      resolve: (page) => page.edges.at(-1)?.cursor ?? null,
    }),
  }),
})
