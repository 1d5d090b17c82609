import type { IncomingMessage } from 'node:http'
import { parseJson } from '../services/runtime/json.ts'
import type { OperationParams } from '../subscriptions/operation.ts'
import { MAX_BODY_BYTES } from './limits.ts'
import type { Refusal } from './respond.ts'

export type ParamsResult = { params: OperationParams } | { refusal: Refusal }

const CONTENT_TYPES = ['application/json', 'application/graphql-response+json']

/** How much of a body that is too long is read and thrown away before the client is cut off. */
const MAX_DISCARDED_BYTES = 32 * MAX_BODY_BYTES

const refuse = (status: number, code: string, message: string): { refusal: Refusal } => ({
  refusal: { status, code, message },
})
const bad = (message: string) => refuse(400, 'BAD_REQUEST', message)

/** The GraphQL request in the parameters of a URL. */
export function paramsOfUrl(search: URLSearchParams): ParamsResult {
  const values: Record<string, unknown> = {}
  for (const key of ['query', 'operationName']) values[key] = search.get(key) ?? undefined
  for (const key of ['variables', 'extensions']) {
    const text = search.get(key)
    if (!text) continue
    const value = jsonOf(text)
    if (value === undefined) return bad(`The URL parameter ${key} is not JSON.`)
    values[key] = value
  }
  return check(values)
}

/** The GraphQL request in the body of a POST. Content types that a form could send are refused (CSRF). */
export async function paramsOfBody(request: IncomingMessage): Promise<ParamsResult> {
  const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase()
  if (type === undefined || !CONTENT_TYPES.includes(type)) {
    return refuse(
      415,
      'UNSUPPORTED_MEDIA_TYPE',
      'The body must be JSON, sent with content-type: application/json.',
    )
  }
  const body = await readBody(request)
  if (body === null) {
    const message = `The body is longer than ${MAX_BODY_BYTES} bytes, which is the limit.`
    return refuse(413, 'PAYLOAD_TOO_LARGE', message)
  }
  if (body.length === 0) return bad('The body is empty; send JSON with a "query" in it.')
  const text = decode(body)
  if (text === null) return bad('The body is not UTF-8.')
  const value = jsonOf(text)
  if (value === undefined) return bad('The body is not JSON.')
  return check(value)
}

function check(value: unknown): ParamsResult {
  if (Array.isArray(value)) return bad('Batches are not supported; send one operation per request.')
  if (!isRecord(value)) return bad('The body must be a JSON object with a "query" in it.')
  const { query, variables, operationName, extensions } = value
  if (query === undefined || query === null || query === '') return bad('There is no "query".')
  if (typeof query !== 'string') return bad('"query" must be a string.')
  if (variables != null && !isRecord(variables)) return bad('"variables" must be an object.')
  if (operationName != null && typeof operationName !== 'string')
    return bad('"operationName" must be a string.')
  if (extensions != null && !isRecord(extensions)) return bad('"extensions" must be an object.')
  return { params: { query, variables, operationName: operationName || null } }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * The bytes of the body, or null for too many. What is too much is not kept but read to its end, within
 * bounds: a client that is cut off while it still sends sees a broken connection and not our answer.
 */
function readBody(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = []
  let length = 0
  return new Promise((resolve, reject) => {
    request.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length <= MAX_BODY_BYTES) chunks.push(chunk)
      else chunks.length = 0
      if (length > MAX_DISCARDED_BYTES) resolve(null)
    })
    request.on('end', () => resolve(length <= MAX_BODY_BYTES ? Buffer.concat(chunks) : null))
    request.on('error', reject)
    request.on('close', () => reject(new Error('the client left before its request was whole')))
  })
}

function decode(body: Buffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch {
    return null
  }
}

/** The value of a JSON text, undefined for what is none. Digits are kept, for an input that has to refuse large integers. */
function jsonOf(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}
