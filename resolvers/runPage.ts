import { z } from 'zod'
import { decodeRunCursor } from '../services/audit/cursor.ts'
import { optional, pageSize } from './input.ts'

/** The arguments of a page of the audit log, `most` runs unless said otherwise. */
export const runPage = (most: number) =>
  z.object({
    first: optional(pageSize).transform((first) => first ?? most),
    after: optional(
      z.string().refine((cursor) => decodeRunCursor(cursor) !== null, {
        error: 'must be a cursor of the audit log',
      }),
    ),
  })
