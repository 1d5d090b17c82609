import type { JsonRecord } from './json.ts'
import { at, listOf, recordOf, textOf } from './json.ts'
import { createdPodSpec, qosClass, templateWithDefaults } from './podDefaults.ts'
import { timestamp } from './times.ts'
import type { KubeObject } from './types.ts'

type Defaulting = (object: KubeObject, now: number) => JsonRecord

/** What the API server fills into a spec, by kind, whenever an object is written. */
const specDefaults: Record<string, (spec: JsonRecord) => JsonRecord> = {
  Deployment: (spec) => ({
    replicas: 1,
    revisionHistoryLimit: 10,
    progressDeadlineSeconds: 600,
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } },
    ...spec,
    template: templateWithDefaults(spec.template),
  }),
  ReplicaSet: (spec) => ({ replicas: 1, ...spec, template: templateWithDefaults(spec.template) }),
  StatefulSet: (spec) => ({
    replicas: 1,
    podManagementPolicy: 'OrderedReady',
    revisionHistoryLimit: 10,
    persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
    ...spec,
    template: templateWithDefaults(spec.template),
  }),
  Service: (spec) => ({ type: 'ClusterIP', sessionAffinity: 'None', ...spec }),
  PersistentVolumeClaim: (spec) => ({ volumeMode: 'Filesystem', ...spec }),
}

/** What else it fills in when an object is created, by kind. Each gives the members that change. */
const onCreate: Record<string, Defaulting> = {
  Pod: (pod) => {
    const spec = createdPodSpec(recordOf(pod.spec))
    return { spec, status: { phase: 'Pending', qosClass: qosClass(spec) } }
  },
  Namespace: (namespace) => ({
    metadata: {
      ...namespace.metadata,
      labels: { ...namespace.metadata.labels, 'kubernetes.io/metadata.name': namespace.metadata.name },
    },
    spec: { ...recordOf(namespace.spec), finalizers: ['kubernetes'] },
    status: { phase: 'Active' },
  }),
  Deployment: () => ({ status: {} }),
  ReplicaSet: () => ({ status: { replicas: 0 } }),
  StatefulSet: () => ({ status: { replicas: 0, availableReplicas: 0 } }),
  Job: newJob,
  Service: () => ({ status: { loadBalancer: {} } }),
  PersistentVolumeClaim: () => ({ status: { phase: 'Pending' } }),
  CustomResourceDefinition: (crd, now) => {
    const names = crdNames(recordOf(at(crd.spec, 'names')))
    const spec = { conversion: { strategy: 'None' }, ...recordOf(crd.spec), names }
    return { spec, status: establishedStatus(names, recordOf(crd.spec), now) }
  },
}

/** The object as the API server would complete it on creation: spec defaults and the first status. */
export function withDefaults(object: KubeObject, now: number): KubeObject {
  const complete = withSpecDefaults(object)
  const fill = onCreate[object.kind]
  return fill === undefined ? complete : { ...complete, ...fill(complete, now) }
}

/**
 * The object with the defaults of its spec, which are filled in at an update as well: writing what a client has
 * rendered once more changes nothing, so no pod template is a new one for it.
 */
export function withSpecDefaults(object: KubeObject): KubeObject {
  const fill = specDefaults[object.kind]
  return fill === undefined ? object : { ...object, spec: fill(recordOf(object.spec)) }
}

/** What is rewritten on every write: a Secret's `stringData` goes into `data`, and it always has a type. */
export function normalised(object: KubeObject): KubeObject {
  if (object.kind !== 'Secret') return object
  const { stringData, ...secret } = object
  const plain = Object.entries(recordOf(stringData)).map(([key, value]): [string, string] => [
    key,
    Buffer.from(textOf(value)).toString('base64'),
  ])
  const type = textOf(object.type) || 'Opaque'
  if (plain.length === 0) return { ...secret, type }
  return { ...secret, type, data: { ...recordOf(object.data), ...Object.fromEntries(plain) } }
}

function crdNames(names: JsonRecord): JsonRecord {
  const kind = textOf(names.kind)
  return { singular: kind.toLowerCase(), listKind: `${kind}List`, ...names }
}

/** A CRD is served as soon as it is there; a real server takes a moment for it. */
function establishedStatus(names: JsonRecord, spec: JsonRecord, now: number): JsonRecord {
  const condition = (type: string, reason: string, message: string) => ({
    type,
    status: 'True',
    lastTransitionTime: timestamp(now),
    reason,
    message,
  })
  const storage = listOf(spec.versions).find((version) => at(version, 'storage') === true)
  return {
    acceptedNames: names,
    storedVersions: [textOf(at(storage, 'name'))],
    conditions: [
      condition('NamesAccepted', 'NoConflicts', 'no conflicts found'),
      condition('Established', 'InitialNamesAccepted', 'the initial names have been accepted'),
    ],
  }
}

/** A Job's pods are found by labels that carry its uid, unless it brings its own selector. */
function newJob(job: KubeObject): JsonRecord {
  const given = recordOf(job.spec)
  const spec: JsonRecord = {
    backoffLimit: 6,
    completionMode: 'NonIndexed',
    manualSelector: false,
    parallelism: 1,
    podReplacementPolicy: 'TerminatingOrFailed',
    suspend: false,
    ...(given.parallelism === undefined ? { completions: 1 } : {}),
    ...given,
  }
  const template = templateWithDefaults(spec.template)
  const metadata = recordOf(template.metadata)
  const labels: Record<string, string> = { ...(metadata.labels as Record<string, string> | undefined) }
  if (spec.manualSelector !== true) {
    const uid = job.metadata.uid ?? ''
    for (const prefix of ['batch.kubernetes.io/', '']) {
      labels[`${prefix}controller-uid`] = uid
      labels[`${prefix}job-name`] = job.metadata.name
    }
    spec.selector = { matchLabels: { 'batch.kubernetes.io/controller-uid': uid } }
  }
  spec.template = { ...template, metadata: { ...metadata, labels } }
  // A Job without labels of its own takes those of its pods.
  return { metadata: { ...job.metadata, labels: job.metadata.labels ?? labels }, spec, status: {} }
}
