import type { KubeObject } from '../api/types.ts'
import { goTimestamp } from '../helm/payload.ts'
import { timestamp } from './cluster.ts'
import { failingHook, helmSecret } from './helmRelease.ts'
import { glm, gptOss, gptOssBaseline, kimi, qwen } from './models.ts'
import { autoscaleConfigMap, mergeLayers, planConfigMap, planData } from './plan.ts'
import { appliedRelease, chartOf, type HelmStory, storyParts, storyRecords, storyWorkload } from './story.ts'
import { deploymentWorkload } from './workload.ts'

const team = 'team-a'
const minute = 60_000

/** The sample's helm releases. `now` is in milliseconds since the epoch. */
export function sampleReleases(now: number): KubeObject[] {
  return [
    ...chat(now),
    ...docsSearch(now),
    ...research(now),
    ...summarize(now),
    ...rerank(now),
    ...translate(now),
    ...legacyChat(now),
    ...gpuExporter(now),
  ]
}

/** The one to take away first: three pods that leave one after the other. */
const chat = (now: number) =>
  appliedRelease(
    {
      namespace: team,
      name: 'chat',
      model: gptOss,
      revision: 3,
      ageHours: 20,
      groups: [{ pods: [5, 9, 13].map((stopSeconds) => ({ node: 'gpu-1', stopSeconds })) }],
      actor: 'ada',
      note: 'third replica for the launch',
      archives: [1, 2],
    },
    now,
  )

/** Prefill and decode on two nodes, with an autoscaler and the pod of a finished check. */
function docsSearch(now: number): KubeObject[] {
  const story: HelmStory = {
    namespace: team,
    name: 'docs-search',
    model: gptOssBaseline,
    revision: 2,
    ageHours: 70,
    groups: [
      { name: 'prefill', pods: [{ node: 'gpu-1' }, { node: 'gpu-2' }] },
      { name: 'decode', pods: [{ node: 'gpu-1' }, { node: 'gpu-2' }] },
    ],
    form: { pd: { prefill: { replicas: 2 }, decode: { replicas: 2 } } },
    actor: 'grace',
    archives: [1],
  }
  const installed = timestamp(storyParts(story, now).at(1))
  const check: KubeObject = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'docs-search-model-check',
      namespace: team,
      labels: { 'app.kubernetes.io/instance': 'docs-search', 'app.kubernetes.io/component': 'model-check' },
      annotations: { 'helm.sh/hook': 'post-install' },
      creationTimestamp: installed,
    },
    spec: {
      nodeName: 'gpu-1',
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: 30,
      containers: [{ name: 'model-check', image: 'busybox' }],
    },
    status: { phase: 'Succeeded', startTime: installed },
  }
  const decided = timestamp(now - 15_000)
  return [...appliedRelease(story, now), autoscaleConfigMap(story, decided, installed), check]
}

/** One pod with a whole node's GPUs. */
const research = (now: number) =>
  appliedRelease(
    {
      namespace: team,
      name: 'research',
      model: kimi,
      revision: 1,
      ageHours: 200,
      groups: [{ pods: [{ node: 'gpu-3', stopSeconds: 20 }] }],
      actor: 'ada',
    },
    now,
  )

/** An upgrade that failed: the GPUs it wants are taken, so its pod stays Pending. */
function summarize(now: number): KubeObject[] {
  const error =
    'Error: UPGRADE FAILED: resource Deployment/team-a/summarize-sglang not ready. status: InProgress, message: Available: 0/1\ncontext deadline exceeded'
  const story: HelmStory = {
    namespace: team,
    name: 'summarize',
    model: glm,
    revision: 2,
    ageHours: 3,
    groups: [{ pods: [{ node: '' }] }],
    actor: 'linus',
    archives: [1],
  }
  const { at, layersAt, statusAt } = storyParts(story, now)
  const { manifest, live, made } = storyWorkload(story, now)
  const records = [1, 2].map((number) =>
    helmSecret({
      namespace: team,
      name: story.name,
      revision: number,
      status: number === 1 ? 'deployed' : 'failed',
      chart: chartOf(glm),
      config: mergeLayers(layersAt(number)),
      objects: manifest,
      description: number === 1 ? 'Install complete' : `Upgrade "summarize" failed: ${error.slice(23)}`,
      firstDeployed: goTimestamp(at(1)),
      lastDeployed: goTimestamp(at(number)),
    }),
  )
  const failed = planData(story, glm, layersAt(2), { ...statusAt(2), phase: 'failed', error })
  return [...records, planConfigMap(story, failed, timestamp(at(1))), ...live, ...made.map(asPending)]
}

/** Without a node, as the API server has just taken it in; the scheduler says why none fits. */
function asPending(object: KubeObject): KubeObject {
  if (object.kind !== 'Pod') return { ...object, status: { observedGeneration: 1, replicas: 1 } }
  const { nodeName: _nodeName, ...spec } = object.spec as Record<string, unknown>
  return { ...object, spec, status: { phase: 'Pending', qosClass: 'BestEffort' } }
}

/** Its chart has a pre-delete hook that fails: uninstalling it ends in FAILED. */
function rerank(now: number): KubeObject[] {
  const release = { namespace: team, name: 'rerank' }
  return appliedRelease(
    {
      ...release,
      model: qwen,
      revision: 2,
      ageHours: 30,
      groups: [{ pods: [{ node: 'gpu-2' }] }],
      actor: 'linus',
      hooks: [failingHook(release, qwen.engine, 'Job Failed. failed: 1/1')],
    },
    now,
  )
}

/** A plan somebody has edited by hand, with a bracket that does not close. */
function translate(now: number): KubeObject[] {
  const story: HelmStory = {
    namespace: team,
    name: 'translate',
    model: gptOss,
    revision: 1,
    ageHours: 300,
    groups: [{ pods: [{ node: 'gpu-2' }] }],
    actor: 'grace',
  }
  return appliedRelease(story, now).map((object) => {
    if (object.kind !== 'ConfigMap') return object
    const data = object.data as Record<string, string>
    return { ...object, data: { ...data, 'plan.yaml': `${data['plan.yaml']}extra: [not closed\n` } }
  })
}

/**
 * Being uninstalled since a minute: helm is done and has dropped its records, but one pod hangs on a node that
 * is lost. With a grace of 600 s it counts for twenty minutes.
 */
function legacyChat(now: number): KubeObject[] {
  const story: HelmStory = {
    namespace: team,
    name: 'legacy-chat',
    model: gptOssBaseline,
    revision: 4,
    ageHours: 900,
    groups: [{ pods: [{ node: 'gpu-lost' }] }],
    graceSeconds: 600,
    actor: 'grace',
  }
  const { at, layersAt, statusAt } = storyParts(story, now)
  const asked = now - minute
  const data = planData(story, story.model, layersAt(4), {
    phase: 'uninstalling',
    action: 'uninstall',
    revision: 4,
    startedAt: timestamp(asked),
    updatedAt: timestamp(asked),
    actor: 'grace',
    note: 'chat has taken over',
    previous: statusAt(4),
  })
  const pods = storyWorkload(story, now).made.filter((object) => object.kind === 'Pod')
  return [
    planConfigMap(story, data, timestamp(at(1)), { 'swiss.modelsphere.dev/phase': 'uninstalling' }),
    ...pods.map((pod) => ({
      ...pod,
      metadata: {
        ...pod.metadata,
        generation: 2,
        deletionTimestamp: timestamp(asked + 600_000),
        deletionGracePeriodSeconds: 600,
      },
    })),
  ]
}

/** A helm release that nobody deployed through Swiss. */
function gpuExporter(now: number): KubeObject[] {
  const release = { namespace: team, name: 'gpu-exporter' }
  const chart = { name: 'dcgm-exporter', version: '4.1.0', appVersion: '4.1.0' }
  const at = now - 40 * 24 * 60 * minute
  const { manifest, live, made } = deploymentWorkload({
    release,
    chart,
    image: 'nvidia/dcgm-exporter:4.1.0',
    name: release.name,
    pods: [{ node: 'gpu-2' }],
    gpus: 0,
    graceSeconds: 30,
    createdAt: timestamp(at),
  })
  const record = helmSecret({
    ...release,
    revision: 1,
    status: 'deployed',
    chart,
    config: {},
    objects: manifest,
    description: 'Install complete',
    firstDeployed: goTimestamp(at),
    lastDeployed: goTimestamp(at),
  })
  return [record, ...live, ...made]
}

/** Records and workload of a release that an operator deploys; its plan is the LLMService. */
export function operatedRelease(story: HelmStory, now: number): KubeObject[] {
  const { manifest, live, made } = storyWorkload(story, now)
  return [...storyRecords(story, now, manifest), ...live, ...made]
}
