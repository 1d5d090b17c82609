import { at, isRecord, listOf, textOf } from './json.ts'
import type { KubeObject } from './types.ts'

function containers(pod: KubeObject): Record<string, unknown>[] {
  return listOf(at(pod.status, 'containerStatuses')).filter(isRecord)
}

/** `ready/all` containers. */
export function podReady(pod: KubeObject): string {
  const ready = containers(pod).filter((one) => one.ready === true).length
  return `${ready}/${listOf(at(pod.spec, 'containers')).length}`
}

/** What `kubectl get pods` calls STATUS: the phase, or the reason that says more. */
export function podStatus(pod: KubeObject): string {
  const reason = textOf(at(pod.status, 'reason'))
  if (pod.metadata.deletionTimestamp !== undefined) {
    return reason === 'NodeLost' ? 'Unknown' : 'Terminating'
  }
  for (const container of containers(pod)) {
    const told = textOf(at(container, 'state', 'waiting', 'reason'))
    if (told !== '') return told
  }
  for (const container of containers(pod)) {
    const told = textOf(at(container, 'state', 'terminated', 'reason'))
    if (told !== '' && at(pod.status, 'phase') !== 'Running') return told
  }
  return reason || textOf(at(pod.status, 'phase')) || 'Pending'
}

/** Restarts of all containers together. */
export function restarts(pod: KubeObject): string {
  const counts = containers(pod).map((one) => (typeof one.restartCount === 'number' ? one.restartCount : 0))
  return String(counts.reduce((sum, count) => sum + count, 0))
}
