import type { KubeObject } from './kinds.ts'

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

/**
 * Takes out of a freshly parsed object, in place, what no row uses and what is often larger than the rest:
 * `managedFields` and kubectl's copy of the whole manifest (which holds the values a second time).
 */
export function stripMetadata(raw: KubeObject): KubeObject {
  const metadata = raw.metadata as KubeObject['metadata'] & { managedFields?: unknown }
  delete metadata.managedFields
  if (metadata.annotations) delete metadata.annotations[LAST_APPLIED]
  return raw
}
