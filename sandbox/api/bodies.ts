import type { IncomingMessage } from 'node:http'

/** The most a request may carry; more is answered with 413 and no body. */
const limit = 3 * 1024 * 1024

export type Body = { text: string } | 'too large'

/** Reads a request's body. One that is too large is read to its end all the same, so that the answer arrives. */
export async function readBody(request: IncomingMessage): Promise<Body> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size <= limit) chunks.push(chunk)
    else chunks.length = 0
  }
  return size > limit ? 'too large' : { text: Buffer.concat(chunks).toString('utf8') }
}

/** The JSON value of a text, or why it is none. */
export function parseJson(text: string): { value: unknown } | { problem: string } {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) }
  }
}

/** The media type of a request's body, in lower case and without parameters; empty when none is given. */
export function mediaType(request: IncomingMessage): string {
  return (request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
}
