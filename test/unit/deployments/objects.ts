import type { KubeObject } from '../../../services/cluster/kinds.ts'
import type { ReleaseInputs } from '../../../services/deployments/inputs.ts'
import { type LLMServiceObject, trimLLMService } from '../../../services/deployments/llmService.ts'
import type { HelmRecord } from '../../../services/helm/records.ts'
import { markUninstalling } from '../../../services/plans/mark.ts'
import type { MarkedRun } from '../../../services/plans/markedRun.ts'
import { type PlanObject, trimPlan } from '../../../services/plans/planObject.ts'
import { trimPod } from '../../../services/pods/counting.ts'

export const NOW = Date.parse('2031-01-01T00:00:00Z')
export const chat = { namespace: 'team-a', name: 'chat' }

const PLAN = 'chart: {name: vllm, version: 0.4.0}\nsource: {model: gpt-oss-20b}\nengine: vllm\n'

/** A plan ConfigMap as the cache keeps it. */
export function plan(
  status: string | null,
  more: { plan?: string; labels?: Record<string, string> } = {},
): PlanObject {
  return trimmed({
    metadata: {
      ...chat,
      name: 'swiss-plan-chat',
      uid: 'plan-1',
      resourceVersion: '7',
      labels: { 'app.kubernetes.io/managed-by': 'swiss', ...more.labels },
    },
    data: { 'plan.yaml': more.plan ?? PLAN, ...(status === null ? {} : { 'status.yaml': status }) },
  })
}

/** A plan whose release is being uninstalled. */
export function markedPlan(run: Partial<MarkedRun> = {}): PlanObject {
  return plan(markUninstalling({ 'status.yaml': 'phase: applied\nrevision: 3\n' }, openRun(run), NOW))
}

/** The mark beside a plan that cannot carry it. */
export function markBeside(run: Partial<MarkedRun> = {}): PlanObject {
  return trimmed({
    metadata: { ...chat, name: 'swiss-uninstall-chat', uid: 'mark-1', resourceVersion: '8' },
    data: { 'status.yaml': markUninstalling({}, openRun(run), NOW) },
  })
}

export function openRun(more: Partial<MarkedRun> = {}): MarkedRun {
  return {
    id: 'run-1',
    release: chat,
    backend: 'HELM',
    actor: 'user-a',
    note: 'not needed',
    startedAt: '2031-01-01T00:00:00.000Z',
    planHash: null,
    revision: 3,
    attempts: 0,
    chart: null,
    planUid: 'plan-1',
    llmServiceUid: null,
    helmUid: 'helm-3',
    helmEnded: null,
    ...more,
  }
}

export const helmRecord = (status = 'deployed', revision = 3): HelmRecord => ({
  namespace: 'team-a',
  release: 'chat',
  revision,
  status,
  uid: `helm-${revision}`,
  modifiedAt: null,
})

export function service(status: object, metadata: object = {}): LLMServiceObject {
  return trimLLMService({
    metadata: { ...chat, uid: 'uid-1', resourceVersion: '9', ...metadata },
    spec: { chart: { name: 'vllm', version: '0.4.0' }, layers: [{ name: 'form', values: {} }] },
    status,
  })
}

export function pod(name: string, metadata: object = {}, more: { spec?: object; status?: object } = {}) {
  const found = trimPod({
    metadata: {
      namespace: 'team-a',
      name,
      uid: name,
      resourceVersion: '1',
      labels: { 'app.kubernetes.io/instance': 'chat' },
      ...metadata,
    },
    spec: {
      nodeName: 'n1',
      containers: [{ resources: { limits: { 'nvidia.com/gpu': '2' } } }],
      ...more.spec,
    },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }], ...more.status },
  })
  if (!found) throw new Error('no pod of a release')
  return found
}

export function inputs(more: Partial<ReleaseInputs>): ReleaseInputs {
  return {
    ref: chat,
    plan: null,
    mark: null,
    helm: [],
    llmService: null,
    pods: [],
    nodeState: () => 'READY',
    lock: null,
    autoscale: null,
    progress: null,
    ...more,
  }
}

function trimmed(raw: KubeObject): PlanObject {
  const found = trimPlan(raw)
  if (!found) throw new Error('no plan')
  return found
}
