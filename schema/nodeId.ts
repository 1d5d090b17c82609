import type { ReleaseRef } from '../services/deployments/row.ts'

/** What an opaque id stands for. */
type NodeKey = { type: 'Deployment'; ref: ReleaseRef } | { type: 'Run'; id: string }

/** Longer than any id made here (namespace 63, name 253), short enough to decode without a thought. */
const MAX_LENGTH = 1024

const encode = (text: string): string => Buffer.from(text, 'utf8').toString('base64url')

/** The id of a deployment: the same when a release is made again under its name. */
export const deploymentId = (ref: ReleaseRef): string => encode(`Deployment:${ref.namespace}/${ref.name}`)

/** The id of a run, made of its id in the audit log. */
export const runId = (run: { id: string }): string => encode(`Run:${run.id}`)

/** What the id stands for, or null when it is none of ours. Says nothing about whether that exists. */
export function parseNodeId(id: string): NodeKey | null {
  if (id.length > MAX_LENGTH) return null
  const text = Buffer.from(id, 'base64url').toString('utf8')
  // Buffer skips what is not base64url; an id with such characters is not one that was given out.
  if (encode(text) !== id) return null
  const [, run] = /^Run:(.+)$/s.exec(text) ?? []
  if (run) return { type: 'Run', id: run }
  const [, namespace, name] = /^Deployment:([^/]+)\/([^/]+)$/.exec(text) ?? []
  return namespace && name ? { type: 'Deployment', ref: { namespace, name } } : null
}
