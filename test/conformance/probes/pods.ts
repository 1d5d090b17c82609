import type { Json } from '../json.ts'
import type { Subject } from '../probe.ts'
import { mergePatch, strategicPatch } from '../session.ts'
import { pod } from './objects.ts'

const onNode = { nodeName: 'nowhere', terminationGracePeriodSeconds: 30 }
const shown = ({ kind, metadata, status }: Json): unknown => ({ kind, metadata, phase: status?.phase })

export const pods: Subject = {
  name: 'pods',
  probes: [
    {
      name: 'what a pod is completed with',
      async run(s) {
        const path = s.path('pods')
        await s.call('POST', path, { body: pod('a') })
        await s.call('POST', path, {
          body: pod('b', {
            nodeName: 'nowhere',
            restartPolicy: 'Never',
            containers: [
              {
                name: 'main',
                image: 'registry.example.com/model',
                ports: [{ containerPort: 8000 }],
                resources: { limits: { cpu: '1', memory: '1Gi' } },
                env: [{ name: 'A', value: 'b' }],
              },
            ],
          }),
        })
        await s.call('POST', path, { body: { metadata: { name: 'c' }, spec: {} } })
      },
    },
    {
      name: 'grace: the time of the request and the grace; a shorter one moves both, a longer one does not',
      async run(s) {
        const path = s.path('pods/a')
        await s.prepare('POST', s.path('pods'), pod('a', { ...onNode, terminationGracePeriodSeconds: 60 }))
        await s.call('DELETE', path, { show: shown })
        await s.call('DELETE', path, { show: shown })
        await s.call('DELETE', `${path}?gracePeriodSeconds=90`, { show: shown })
        await s.call('DELETE', path, { body: { gracePeriodSeconds: 30 }, show: shown })
        await s.call('GET', path, { show: shown })
        await s.call('PATCH', path, {
          body: { metadata: { labels: { still: 'here' } } },
          type: mergePatch,
          show: shown,
        })
        await s.call('DELETE', path, { body: { gracePeriodSeconds: 0 }, show: shown })
        await s.call('GET', path)
      },
    },
    {
      name: 'nobody waits for a pod without a node, for one that has ended, for one with no grace',
      async run(s) {
        const path = s.path('pods')
        await s.prepare('POST', path, pod('unscheduled'))
        await s.call('DELETE', `${path}/unscheduled`, { show: shown })
        await s.call('GET', `${path}/unscheduled`)
        await s.prepare('POST', path, pod('ended', onNode))
        await s.prepare(
          'PATCH',
          `${path}/ended/status`,
          { status: { phase: 'Succeeded' } },
          { type: mergePatch },
        )
        await s.call('DELETE', `${path}/ended`, { show: shown })
        await s.call('GET', `${path}/ended`)
        await s.prepare('POST', path, pod('none', { ...onNode, terminationGracePeriodSeconds: 0 }))
        await s.call('DELETE', `${path}/none`, { show: shown })
        await s.call('GET', `${path}/none`)
        await s.prepare('POST', path, pod('forced', onNode))
        await s.call('DELETE', `${path}/forced?gracePeriodSeconds=0`, { show: shown })
        await s.call('GET', `${path}/forced`)
      },
    },
    {
      name: 'a pod that is held by a finalizer as well',
      async run(s) {
        const path = s.path('pods/a')
        await s.prepare('POST', s.path('pods'), pod('a', onNode, { finalizers: ['example.com/hold'] }))
        await s.call('DELETE', path, { show: shown })
        await s.call('DELETE', `${path}?gracePeriodSeconds=0`, { show: shown })
        await s.call('DELETE', `${path}?gracePeriodSeconds=0`, { show: shown })
        await s.call('GET', path, { show: shown })
        await s.call('PATCH', path, {
          body: { metadata: { finalizers: null } },
          type: mergePatch,
          show: shown,
        })
        await s.call('GET', path)
      },
    },
    {
      name: 'an eviction is a graceful delete',
      async run(s) {
        const eviction = (name: string, rest = {}) => ({
          body: {
            apiVersion: 'policy/v1',
            kind: 'Eviction',
            metadata: { name, namespace: s.namespace },
            ...rest,
          },
        })
        await s.prepare('POST', s.path('pods'), pod('a', onNode))
        await s.prepare('POST', s.path('pods'), pod('b'))
        await s.call(
          'POST',
          s.path('pods/a/eviction'),
          eviction('a', { deleteOptions: { gracePeriodSeconds: 10 } }),
        )
        await s.call('GET', s.path('pods/a'), { show: shown })
        await s.call('POST', s.path('pods/a/eviction'), eviction('a'))
        await s.call('POST', s.path('pods/b/eviction'), eviction('b'))
        await s.call('GET', s.path('pods/b'))
        await s.call('POST', s.path('pods/none/eviction'), eviction('none'))
      },
    },
    {
      name: 'status has a door of its own',
      async run(s) {
        const path = s.path('pods/a')
        await s.prepare('POST', s.path('pods'), pod('a', onNode))
        const running = { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } }
        const show = ({ kind, metadata, spec, status }: Json): unknown => ({
          kind,
          metadata,
          node: spec.nodeName,
          status,
        })
        await s.call('PATCH', path, { body: running, type: mergePatch, show })
        await s.call('PATCH', `${path}/status`, { body: running, type: mergePatch, show })
        await s.call('PATCH', `${path}/status`, {
          body: { status: { conditions: [{ type: 'Other', status: 'False' }] } },
          type: strategicPatch,
          show,
        })
        await s.call('PATCH', path, {
          body: { spec: { nodeName: 'other' } },
          type: mergePatch,
          anyMessage: true,
          show,
        })
      },
    },
    {
      name: 'a strategic patch merges lists by their keys',
      async run(s) {
        const path = s.path('pods/a')
        const show = ({ metadata, spec }: Json): unknown => ({
          metadata,
          containers: spec.containers.map(({ name, image }: Json) => ({ name, image })),
          seconds: spec.activeDeadlineSeconds,
        })
        const containers = [
          { name: 'main', image: 'model:1' },
          { name: 'side', image: 'side:1' },
        ]
        await s.prepare(
          'POST',
          s.path('pods'),
          pod('a', { containers }, { finalizers: ['example.com/hold'] }),
        )
        const patch = (body: unknown) => s.call('PATCH', path, { body, type: strategicPatch, show })
        await patch({ spec: { containers: [{ name: 'side', image: 'side:2' }] } })
        await patch({ metadata: { labels: { x: 'y' }, annotations: { a: 'b' } } })
        await patch({ metadata: { labels: { x: null }, finalizers: ['example.com/more'] } })
        await patch({ metadata: { '$deleteFromPrimitiveList/finalizers': ['example.com/hold'] } })
        await patch({ metadata: { labels: { $patch: 'replace', z: '1' } } })
        await patch({})
        await patch({ metadata: { finalizers: null } })
      },
    },
  ],
}
