import type { KubeObject } from '../api/types.ts'
import { renderChart } from '../charts/render.ts'
import { goTimestamp, type HelmHook } from '../helm/payload.ts'
import { timestamp } from './cluster.ts'
import { helmSecret } from './helmRelease.ts'
import type { Model } from './models.ts'
import {
  type Layers,
  layersOf,
  mergeLayers,
  type PlanStatus,
  planArchive,
  planConfigMap,
  planData,
} from './plan.ts'
import { deploymentWorkload, type Workload } from './workload.ts'

const hour = 3_600_000

/** A helm release beside its plan. Revisions are a day apart, the newest `ageHours` old. */
export interface HelmStory {
  namespace: string
  name: string
  model: Model
  revision: number
  ageHours: number
  /** One Deployment per group; the group's name is behind the release's. */
  groups: { name?: string; pods: { node: string; stopSeconds?: number }[] }[]
  form?: Record<string, unknown>
  graceSeconds?: number
  hooks?: HelmHook[]
  /** Who did the last apply. */
  actor: string
  note?: string
  /** Revisions whose plans have been archived. */
  archives?: number[]
}

export const chartOf = (model: Model) => ({
  name: model.engine,
  version: model.chartVersion,
  appVersion: model.image.tag,
})

/** Labels, values and times that the parts of a story share. */
export function storyParts(story: HelmStory, now: number) {
  const { model, revision, ageHours } = story
  const graceSeconds = story.graceSeconds ?? 60
  const replicas = story.groups.reduce((sum, group) => sum + group.pods.length, 0)
  const at = (number: number) => now - ageHours * hour - (revision - number) * 24 * hour
  const layersAt = (number: number): Layers =>
    layersOf(model, {
      replicaCount: number === revision ? replicas : Math.max(1, replicas - 1),
      maxRunningRequests: 32 + 16 * number,
      terminationGracePeriodSeconds: graceSeconds,
      ...story.form,
    })
  const statusAt = (number: number): PlanStatus => ({
    phase: 'applied',
    action: number === 1 ? 'install' : 'apply',
    revision: number,
    startedAt: timestamp(at(number)),
    updatedAt: timestamp(at(number) + 40_000),
    actor: story.actor,
    ...(story.note ? { note: story.note } : {}),
  })
  return { graceSeconds, at, layersAt, statusAt }
}

/** The pods and what stands behind them. */
export function storyWorkload(story: HelmStory, now: number): Workload {
  const { model } = story
  const { graceSeconds, at } = storyParts(story, now)
  const parts = story.groups.map(({ name, pods }) =>
    deploymentWorkload({
      release: story,
      chart: chartOf(model),
      image: `${model.image.repository}:${model.image.tag}`,
      args: (model.values.extraArgs as string[] | undefined) ?? [],
      ...(name ? { name: `${story.name}-${name}` } : {}),
      pods,
      gpus: model.gpus,
      nodeSelector: { 'nvidia.com/gpu.product': model.gpuProduct },
      graceSeconds,
      createdAt: timestamp(at(story.revision)),
    }),
  )
  return {
    manifest: parts.flatMap((part) => part.manifest),
    live: parts.flatMap((part) => part.live),
    made: parts.flatMap((part) => part.made),
  }
}

/** helm's records of a story, the last one `deployed`. */
export function storyRecords(story: HelmStory, now: number, manifest: KubeObject[]): KubeObject[] {
  const { at, layersAt } = storyParts(story, now)
  return Array.from({ length: story.revision }, (_, index) => {
    const number = index + 1
    const config = mergeLayers(layersAt(number))
    // An earlier revision had other values, and so other objects: a rollback brings them back.
    const isNewest = number === story.revision
    const objects = isNewest ? manifest : renderChart(story, chartOf(story.model), config).objects
    return helmSecret({
      namespace: story.namespace,
      name: story.name,
      revision: number,
      status: isNewest ? 'deployed' : 'superseded',
      chart: chartOf(story.model),
      config,
      objects,
      ...(story.hooks ? { hooks: story.hooks } : {}),
      description: number === 1 ? 'Install complete' : 'Upgrade complete',
      firstDeployed: goTimestamp(at(1)),
      lastDeployed: goTimestamp(at(number)),
    })
  })
}

/** Everything of an applied release: workload, helm's records, plan, archives. */
export function appliedRelease(story: HelmStory, now: number): KubeObject[] {
  const { at, layersAt, statusAt } = storyParts(story, now)
  const { manifest, live, made } = storyWorkload(story, now)
  const dataAt = (number: number) => planData(story, story.model, layersAt(number), statusAt(number))
  return [
    ...storyRecords(story, now, manifest),
    planConfigMap(story, dataAt(story.revision), timestamp(at(1))),
    ...(story.archives ?? []).map((number) =>
      planArchive(story, number, dataAt(number), timestamp(at(number + 1))),
    ),
    ...live,
    ...made,
  ]
}
