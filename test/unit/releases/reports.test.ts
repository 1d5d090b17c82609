/**
 * Reports from the field that need more objects, or larger ones, than a file of a case can hold, or a word of the
 * API server that its format has no place for. Each runs as a case does: the whole gateway on a clock of its own.
 */
import { expect, test } from 'vitest'
import { readCase } from '../../cases/format.ts'
import { makeRealHouse } from '../../cases/house.ts'
import { runCase } from '../../cases/run.ts'

const LIMIT_MS = 120_000
const run = async (data: object, change: (read: ReturnType<typeof readCase>) => void = () => {}) => {
  const theCase = readCase(data)
  change(theCase)
  return runCase(theCase, makeRealHouse)
}

const team = 'team-a'
const chart = 'chart-x-1.0.0'
const instance = (name: string) => ({ 'app.kubernetes.io/instance': name })
const uninstall = (name: string, expected: object) => ({
  uninstall: { namespace: team, name },
  expect: expected,
})
const accepted = { __typename: 'UninstallReleasePayload', alreadyInProgress: false }
const marked = { labels: { 'swiss.modelsphere.dev/phase': 'uninstalling' } }

test('B014 300 releases are listed, and the 40 that are uninstalling are found and finished after a restart', {
  timeout: LIMIT_MS,
}, async () => {
  const names = Array.from({ length: 300 }, (_, at) => `rel-${String(at).padStart(3, '0')}`)
  const leaving = names.slice(260)
  const isLeaving = (name: string) => leaving.includes(name)
  const rows = (list: string[]) =>
    list.map((name) => ({ name, phase: isLeaving(name) ? 'UNINSTALLING' : 'APPLIED' }))
  const given = {
    // Two revisions each: more records than one page of a list holds. helm itself has two of the 40 yet.
    helm: names.map((name) => ({
      ...{ namespace: team, name, revision: 2, chart },
      status: isLeaving(name) && name < 'rel-298' ? 'uninstalled' : 'deployed',
    })),
    plans: names.map((name) => ({
      ...{ namespace: team, name, revision: 2, chart },
      ...(isLeaving(name) ? { phase: 'uninstalling', ...marked } : { phase: 'applied' }),
    })),
    // All of them terminating on a machine that is gone: one moment ends their grace.
    objects: leaving.map((name) => ({
      ...{ apiVersion: 'v1', kind: 'Pod', spec: { nodeName: 'gone' }, status: { phase: 'Running' } },
      metadata: {
        ...{ namespace: team, name: `${name}-0`, labels: instance(name) },
        ...{ deletionTimestamp: '2031-01-01T00:00:00Z', deletionGracePeriodSeconds: 10 },
      },
    })),
  }
  const plan = (name: string) => `ConfigMap/${team}/swiss-plan-${name}`
  const steps = [
    { check: { rows: rows(names) } },
    { restart: true },
    { check: { rows: rows(names) } },
    { advance: '11s' },
    { tick: 'reap' },
    { tick: 'reap' },
    {
      check: {
        rows: rows(names.slice(0, 260)),
        objects: { absent: leaving.map(plan), present: names.slice(0, 260).map(plan) },
        helm: '/^\\[(\\["uninstall","rel-29[89]","--namespace","team-a"\\],?){2}\\]$/',
        runs: leaving.map(() => ({ action: 'UNINSTALL', outcome: 'SUCCEEDED' })),
      },
    },
  ]
  expect(await run({ name: 'B014', given, steps })).toBeUndefined()
})

test('B023 evicted pods and pods with hardly any status are counted without an exception', {
  timeout: LIMIT_MS,
}, async () => {
  const name = 'rel-a'
  const pod = (podName: string, status?: object) => ({
    ...{
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace: team, name: podName, labels: instance(name) },
    },
    ...(status ? { status } : {}),
  })
  const evicted = Array.from({ length: 200 }, (_, at) => `rel-a-${String(at).padStart(3, '0')}`)
  const finished = (podName: string) => ({ name: podName, counts: false, reason: 'FINISHED' })
  const given = {
    helm: [{ namespace: team, name, revision: 1, status: 'deployed', chart }],
    plans: [{ namespace: team, name, phase: 'applied', revision: 1, chart }],
    objects: [
      ...evicted.map((podName) => pod(podName, { phase: 'Failed', reason: 'Evicted' })),
      pod('rel-a-done', { phase: 'Succeeded' }),
      pod('rel-a-new'),
    ],
  }
  const steps = [
    uninstall(name, accepted),
    { tick: 'reap' },
    {
      check: {
        rows: [
          {
            ...{ name, phase: 'UNINSTALLING', pods: { total: 202, counting: 1 } },
            deletion: {
              pods: [
                ...evicted.map(finished),
                finished('rel-a-done'),
                { name: 'rel-a-new', counts: true, reason: 'RUNNING' },
              ],
              blockers: [{ kind: 'POD', name: 'rel-a-new' }],
            },
          },
        ],
      },
    },
    { remove: `Pod/${team}/rel-a-new` },
    { tick: 'reap' },
    {
      check: {
        rows: [],
        objects: { absent: [`ConfigMap/${team}/swiss-plan-rel-a`], present: [`Pod/${team}/rel-a-000`] },
      },
    },
  ]
  expect(await run({ name: 'B023', given, steps })).toBeUndefined()
})

test('B033 a refused uninstall names the webhook that fails, and warnings do', {
  timeout: LIMIT_MS,
}, async () => {
  const said =
    'conversion webhook for serving.modelsphere.dev/v1beta1, Kind=LLMService failed: no endpoints available for service "llm-webhook"'
  const service = {
    ...{ apiVersion: 'serving.modelsphere.dev/v1alpha1', kind: 'LLMService' },
    ...{ metadata: { namespace: team, name: 'svc-a', uid: 'uid-a' }, status: { phase: 'Applied' } },
  }
  const fault = (verb: string) => ({
    fault: { verb, kind: 'LLMService', status: 500, reason: 'InternalError' },
  })
  const steps = [
    ...['get', 'list', 'watch'].map(fault),
    { fault: { verb: 'watch', kind: 'LLMService', drop: true } },
    { advance: '1m' },
    uninstall('svc-a', {
      __typename: 'ClusterUnavailableError',
      message: '/conversion webhook for .*LLMService failed/',
    }),
    {
      graphql: { query: '{ cluster { warnings } }' },
      expect: { data: { cluster: { warnings: '/LLMServices cannot be read.*conversion webhook/' } } },
    },
    { check: { rows: [{ name: 'svc-a', uid: 'uid-a', phase: 'APPLIED' }], runs: [] } },
  ]
  const found = await run({ name: 'B033', given: { objects: [service] }, steps }, (theCase) => {
    // What a case's `fault` has no key for.
    for (const step of theCase.steps) {
      if (step.key === 'fault' && step.value !== 'clear') Object.assign(step.value, { message: said })
    }
  })
  expect(found).toBeUndefined()
})

const plan = (size: { data?: number; lastApplied?: number }) => {
  const data = {
    'plan.yaml': 'chart: {name: chart-x, version: 1.0.0}\n',
    'status.yaml': 'phase: applied\nrevision: 1\n',
  }
  const used = Object.values(data).reduce((sum, text) => sum + text.length, 0)
  return {
    ...{ apiVersion: 'v1', kind: 'ConfigMap' },
    metadata: {
      ...{ namespace: team, name: 'swiss-plan-rel-a', labels: { 'app.kubernetes.io/managed-by': 'swiss' } },
      ...(size.lastApplied
        ? {
            annotations: { 'kubectl.kubernetes.io/last-applied-configuration': 'x'.repeat(size.lastApplied) },
          }
        : {}),
    },
    data: size.data ? { ...data, 'catalog.yaml': `# ${'x'.repeat(size.data - used - 3)}\n` } : data,
  }
}
const full = plan({ data: 1024 * 1024 })
const givenFor = (object: object) => ({
  helm: [{ namespace: team, name: 'rel-a', revision: 1, status: 'deployed', chart }],
  objects: [object],
  pods: [{ namespace: team, name: 'rel-a-0', labels: { app: 'rel-a-chart-x' } }],
})
const helmCall = [['uninstall', 'rel-a', '--namespace', team]]
const finish = [
  { remove: `Pod/${team}/rel-a-0` },
  { tick: 'reap' },
  {
    check: {
      rows: [],
      objects: { absent: [`ConfigMap/${team}/swiss-plan-rel-a`, `ConfigMap/${team}/swiss-uninstall-rel-a`] },
      runs: [{ action: 'UNINSTALL', outcome: 'SUCCEEDED' }],
    },
  },
]

test('B069 a plan of exactly 1 MiB is marked beside it', { timeout: LIMIT_MS }, async () => {
  expect(Object.values(full.data).reduce((sum, text) => sum + text.length, 0)).toBe(1_048_576)
  const steps = [
    uninstall('rel-a', accepted),
    {
      check: {
        rows: [{ name: 'rel-a', phase: 'UNINSTALLING', pods: { counting: 1 } }],
        objects: { present: [`ConfigMap/${team}/swiss-uninstall-rel-a`] },
        helm: helmCall,
      },
    },
    { restart: true },
    { advance: '1m' },
    { tick: 'reap' },
    { check: { rows: [{ name: 'rel-a', phase: 'UNINSTALLING' }], helm: [] } },
    ...finish,
  ]
  expect(await run({ name: 'B069 a', given: givenFor(full), steps })).toBeUndefined()
})

test('B069 a plan with 262,090 bytes of last-applied annotation is marked', {
  timeout: LIMIT_MS,
}, async () => {
  const object = plan({ lastApplied: 262_090 })
  const steps = [
    uninstall('rel-a', accepted),
    {
      check: {
        rows: [{ name: 'rel-a', phase: 'UNINSTALLING', pods: { counting: 1 } }],
        objects: {
          absent: [`ConfigMap/${team}/swiss-uninstall-rel-a`],
          match: [
            {
              ref: `ConfigMap/${team}/swiss-plan-rel-a`,
              metadata: { ...marked, annotations: object.metadata.annotations },
            },
          ],
        },
        helm: helmCall,
      },
    },
    ...finish,
  ]
  expect(await run({ name: 'B069 b', given: givenFor(object), steps })).toBeUndefined()
})

test('B069 where nothing can carry the mark helm is not started and the caller is told why', {
  timeout: LIMIT_MS,
}, async () => {
  const steps = [
    { fault: { verb: 'create', kind: 'ConfigMap', status: 403, reason: 'Forbidden' } },
    uninstall('rel-a', {
      __typename: 'ClusterUnavailableError',
      retryable: false,
      message: '/swiss-uninstall-rel-a/',
    }),
    {
      check: {
        rows: [{ name: 'rel-a', phase: 'APPLIED' }],
        objects: { present: [`Secret/${team}/sh.helm.release.v1.rel-a.v1`] },
        runs: [],
        helm: [],
      },
    },
  ]
  expect(await run({ name: 'B069 refused', given: givenFor(full), steps })).toBeUndefined()
})
