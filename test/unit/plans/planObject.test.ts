import { expect, test } from 'vitest'
import type { KubeObject } from '../../../services/cluster/kinds.ts'
import { markUninstalling } from '../../../services/plans/mark.ts'
import { markName, planName } from '../../../services/plans/names.ts'
import { trimPlan } from '../../../services/plans/planObject.ts'

const configMap = (
  name: string,
  labels: Record<string, string>,
  data: Record<string, string>,
): KubeObject => ({
  metadata: { name, namespace: 'team-a', uid: 'uid-1', resourceVersion: '7', labels },
  data,
})
const MANAGED = { 'app.kubernetes.io/managed-by': 'swiss' }
const plan = (release: string) =>
  `release: {name: ${release}, namespace: team-a}\nchart: {name: vllm, version: 0.4.0}\n`
const run = (name: string) => ({
  id: 'r1',
  release: { namespace: 'team-a', name },
  backend: 'LLMSERVICE' as const,
  actor: null,
  note: null,
  startedAt: '2031-01-01T00:00:00.000Z',
  planHash: null,
  revision: null,
  attempts: 0,
  chart: 'vllm',
  planUid: null,
  llmServiceUid: 'uid-9',
  helmUid: 'uid-of-record',
  helmEnded: null,
})

test('a plan is trimmed to what a row needs', () => {
  const data = {
    'plan.yaml': plan('chat'),
    'status.yaml': 'phase: applied\nrevision: 3\n',
    'form.yaml': 'a: 1\n',
    'edit.yaml': '',
    'notes.txt': 'x',
  }
  expect(trimPlan(configMap('swiss-plan-chat', MANAGED, data))).toMatchObject({
    namespace: 'team-a',
    release: 'chat',
    role: 'plan',
    objectName: 'swiss-plan-chat',
    uid: 'uid-1',
    resourceVersion: '7',
    managed: true,
    marked: false,
    deletionTimestamp: null,
    document: { unreadable: null, chart: { name: 'vllm' } },
    status: { phase: 'applied', revision: 3 },
    statusUnreadable: null,
    layers: { 'form.yaml': 'a: 1\n' },
  })
})

test('the site profile is none, by its name', () => {
  expect(trimPlan(configMap('swiss-site', MANAGED, {}))).toBeNull()
})

test('a broken plan keeps its reasons; its label alone marks it', () => {
  const labels = { ...MANAGED, 'swiss.modelsphere.dev/phase': 'uninstalling' }
  expect(
    trimPlan(configMap('swiss-plan-bad', labels, { 'plan.yaml': 'a: b: c\n', 'status.yaml': '[' })),
  ).toMatchObject({
    release: 'bad',
    marked: true,
    status: null,
    document: { unreadable: expect.stringMatching(/^plan\.yaml is not valid YAML/) },
    statusUnreadable: expect.stringMatching(/^status\.yaml is not valid YAML/),
  })
  expect(trimPlan(configMap('swiss-plan-empty', MANAGED, {}))?.document.unreadable).toBe('has no plan.yaml')
  expect(
    trimPlan({ metadata: { name: 'swiss-plan-nodata', namespace: 'a', uid: 'u', resourceVersion: '1' } }),
  ).toMatchObject({
    managed: false,
    marked: false,
  })
})

test('a mark is always marked and has no document of its own', () => {
  const data = { 'status.yaml': markUninstalling({}, run('chat'), 0) }
  expect(trimPlan(configMap('swiss-uninstall-chat', {}, data))).toMatchObject({
    role: 'mark',
    release: 'chat',
    marked: true,
    document: { unreadable: null, chart: null },
    status: { run: { llmServiceUid: 'uid-9', chart: 'vllm' } },
  })
})

test('where a name was cut, the content tells the release', () => {
  const long = 'm'.repeat(250)
  expect(trimPlan(configMap(planName(long), MANAGED, { 'plan.yaml': plan(long) }))?.release).toBe(long)
  const mark = { 'status.yaml': markUninstalling({}, run(long), 0) }
  expect(trimPlan(configMap(markName(long), {}, mark))?.release).toBe(long)
  // Content that does not make this name has no say.
  expect(trimPlan(configMap(planName(long), MANAGED, { 'plan.yaml': plan('chat') }))?.release).toBe(
    planName(long).slice('swiss-plan-'.length),
  )
  expect(trimPlan(configMap('swiss-plan-chat', MANAGED, { 'plan.yaml': plan('talk') }))?.release).toBe('chat')
})
