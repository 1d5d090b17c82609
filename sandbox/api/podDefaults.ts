import type { JsonRecord } from './json.ts'
import { at, isRecord, listOf, recordOf, textOf } from './json.ts'

/** A pod template with what the API server fills into its spec. */
export function templateWithDefaults(template: unknown): JsonRecord {
  const given = recordOf(template)
  return given.spec === undefined ? given : { ...given, spec: podSpecWithDefaults(recordOf(given.spec)) }
}

/** A pod's spec with the defaults that pods and pod templates share. */
export function podSpecWithDefaults(spec: JsonRecord): JsonRecord {
  const filled: JsonRecord = {
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    securityContext: {},
    schedulerName: 'default-scheduler',
    ...spec,
  }
  for (const member of ['containers', 'initContainers']) {
    if (Array.isArray(spec[member])) filled[member] = spec[member].map(containerWithDefaults)
  }
  return filled
}

function containerWithDefaults(container: unknown): unknown {
  if (!isRecord(container)) return container
  const image = textOf(container.image)
  // An image without a tag, or with `latest`, is pulled every time.
  const latest = !/[:@][^/]*$/.test(image) || image.endsWith(':latest')
  return {
    resources: {},
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: latest ? 'Always' : 'IfNotPresent',
    ...container,
  }
}

/** What is filled into a pod that is created, beyond what its template could have. */
export function createdPodSpec(spec: JsonRecord): JsonRecord {
  const notReady = toleration('node.kubernetes.io/not-ready')
  const unreachable = toleration('node.kubernetes.io/unreachable')
  return {
    enableServiceLinks: true,
    priority: 0,
    preemptionPolicy: 'PreemptLowerPriority',
    ...podSpecWithDefaults(spec),
    tolerations: [...listOf(spec.tolerations), notReady, unreachable],
  }
}

function toleration(key: string): JsonRecord {
  return { key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 }
}

/** The quality of service of a pod: `Guaranteed` where limits are set and nothing asks for other amounts. */
export function qosClass(spec: JsonRecord): string {
  const containers = [...listOf(spec.containers), ...listOf(spec.initContainers)]
  const limits = containers.map((one) => recordOf(at(one, 'resources', 'limits')))
  const requests = containers.map((one) => recordOf(at(one, 'resources', 'requests')))
  if (
    [...limits, ...requests].every((amounts) => amounts.cpu === undefined && amounts.memory === undefined)
  ) {
    return 'BestEffort'
  }
  const guaranteed = limits.every((limit, index) =>
    ['cpu', 'memory'].every((resource) => {
      const asked = requests[index]?.[resource]
      return limit[resource] !== undefined && (asked === undefined || asked === limit[resource])
    }),
  )
  return guaranteed ? 'Guaranteed' : 'Burstable'
}
