import type { KubeObject } from '../api/types.ts'
import { timestamp } from './cluster.ts'
import { gptOss, gptOssBaseline, type Model, qwen } from './models.ts'
import { catalog, chartRepository, planHash } from './plan.ts'
import { operatedRelease } from './releases.ts'
import { type HelmStory, storyParts } from './story.ts'

const team = 'team-b'
const group = 'serving.modelsphere.dev'

/** A canary that does not exist as an object here: its kind is not served by the sandbox. */
const canary = { namespace: team, name: 'assistant-rollout', uid: '0f6f1c52-7a2e-4c0b-9a39-5b9a3c1d7e10' }

/** LLMServices standalone, referenced by a canary, and owned by one, each with what its operator has deployed. */
export function sampleLlmServices(now: number): KubeObject[] {
  const assignment = JSON.stringify({ ...canary, role: 'baseline' })
  return [
    ...service(now, { name: 'code-review', model: qwen, revision: 2, ageHours: 50, node: 'gpu-1' }),
    ...service(
      now,
      { name: 'assistant', model: gptOssBaseline, revision: 1, ageHours: 90, node: 'gpu-2' },
      { annotations: { [`${group}/canary-assignment`]: assignment } },
    ),
    ...service(
      now,
      {
        ...{ name: 'assistant-canary', model: gptOss, revision: 1, ageHours: 2, node: 'gpu-2' },
        pools: ['prefill', 'decode'],
      },
      {
        labels: {
          [`${group}/canary`]: canary.name,
          [`${group}/canary-namespace`]: canary.namespace,
          [`${group}/canary-role`]: 'candidate',
        },
        ownerReferences: [
          {
            apiVersion: `${group}/v1alpha1`,
            kind: 'LLMCanary',
            name: canary.name,
            uid: canary.uid,
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      },
    ),
  ]
}

function service(
  now: number,
  {
    name,
    model,
    revision,
    ageHours,
    node,
    pools = [],
  }: { name: string; model: Model; revision: number; ageHours: number; node: string; pools?: string[] },
  metadata: Partial<KubeObject['metadata']> = {},
): KubeObject[] {
  const story: HelmStory = {
    namespace: team,
    name,
    model,
    revision,
    ageHours,
    groups:
      pools.length === 0 ? [{ pods: [{ node }] }] : pools.map((pool) => ({ name: pool, pods: [{ node }] })),
    ...(pools.length === 0
      ? {}
      : { form: { pd: Object.fromEntries(pools.map((pool) => [pool, { replicas: 1 }])) } }),
    actor: 'llm-operator',
  }
  const { at, layersAt } = storyParts(story, now)
  const hashAt = (number: number) => planHash(model, layersAt(number))
  const annotationsAt = (number: number) => {
    const written = {
      'plan-hash': hashAt(number),
      catalog: catalog.catalog,
      'catalog-name': catalog.catalogName,
      'catalog-ref': catalog.ref,
      'entry-digest': model.digest,
      profile: 'sandbox',
      action: number === 1 ? 'install' : 'apply',
    }
    return Object.fromEntries(
      Object.entries(written).map(([key, text]) => [`swiss.modelsphere.dev/${key}`, text]),
    )
  }
  const chart = { name: model.engine, repo: chartRepository, version: model.chartVersion }
  const specAt = (number: number) => ({
    chart,
    layers: Object.entries(layersAt(number)).map(([layer, values]) => ({ name: layer, values })),
    model: {
      name: model.name,
      version: model.version,
      variant: model.variant,
      hf: model.hf,
      engine: model.engine,
    },
  })
  const numbers = Array.from({ length: revision }, (_, index) => index + 1)
  const snapshot = (number: number) => `${name}-${hashAt(number).slice(0, 10)}`
  const object: KubeObject = {
    apiVersion: `${group}/v1alpha1`,
    kind: 'LLMService',
    metadata: {
      name,
      namespace: team,
      generation: revision,
      creationTimestamp: timestamp(at(1)),
      finalizers: [`${group}/finalizer`],
      ...metadata,
      annotations: { ...annotationsAt(revision), ...metadata.annotations },
    },
    spec: specAt(revision),
    status: {
      phase: 'Applied',
      observedGeneration: revision,
      appliedHash: hashAt(revision),
      chart: { name: model.engine, version: model.chartVersion },
      helm: { revision, status: 'deployed' },
      conditions: [
        {
          type: 'Ready',
          status: 'True',
          reason: 'Applied',
          message: '',
          lastTransitionTime: timestamp(at(revision) + 60_000),
        },
      ],
      history: [...numbers].reverse().map((number) => ({
        revision: number,
        hash: hashAt(number),
        appliedAt: timestamp(at(number)),
        controllerRevision: snapshot(number),
        annotations: annotationsAt(number),
        action: number === 1 ? 'install' : 'apply',
      })),
    },
  }
  const snapshots = numbers.map(
    (number): KubeObject => ({
      apiVersion: 'apps/v1',
      kind: 'ControllerRevision',
      metadata: {
        name: snapshot(number),
        namespace: team,
        labels: { [`${group}/llmservice`]: name },
        creationTimestamp: timestamp(at(number)),
      },
      revision: number,
      data: { spec: specAt(number), annotations: annotationsAt(number) },
    }),
  )
  return [object, ...snapshots, ...operatedRelease(story, now)]
}
