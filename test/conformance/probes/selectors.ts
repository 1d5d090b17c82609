import type { Json } from '../json.ts'
import type { Subject } from '../probe.ts'
import type { Session } from '../session.ts'
import { defineWidgets, pod, secret } from './objects.ts'

const names = ({ items }: Json): unknown => items.map((one: Json) => one.metadata.name)

async function select(s: Session, path: string, kind: 'labelSelector' | 'fieldSelector', texts: string[]) {
  for (const text of texts)
    await s.call('GET', `${path}?${kind}=${encodeURIComponent(text)}`, { show: names })
}

export const selectors: Subject = {
  name: 'selectors',
  probes: [
    {
      name: 'label selectors of all forms',
      async run(s) {
        const path = s.path('secrets')
        await s.prepare(
          'POST',
          path,
          secret('a', { labels: { app: 'x', tier: 'web', 'example.com/z': '1' } }),
        )
        await s.prepare('POST', path, secret('b', { labels: { app: 'y', tier: '' } }))
        await s.prepare('POST', path, secret('c'))
        await select(s, path, 'labelSelector', [
          'app=x',
          'app==x',
          'app!=x',
          'app in (x, y)',
          'app in (x),tier=web',
          'app notin (x)',
          'app',
          '!app',
          'tier=',
          'example.com/z=1',
          'app in (x,y),!example.com/z',
          'none=1',
          '',
        ])
      },
    },
    {
      name: 'label selectors that cannot be read',
      async run(s) {
        const path = s.path('secrets')
        const texts = [
          'app=x y',
          'app in x',
          'app in (x',
          '=x',
          'app=-x',
          'a/b/c=1',
          'app>x',
          ',',
          'app=x,,b=c',
          '!',
        ]
        for (const text of texts) {
          await s.call('GET', `${path}?labelSelector=${encodeURIComponent(text)}`, {
            show: names,
            anyMessage: true,
          })
        }
        await s.call('GET', `${path}?labelSelector=${encodeURIComponent('app=-x')}`)
        await s.watch(`${path}?watch=true&labelSelector=${encodeURIComponent('app=-x')}`)
      },
    },
    {
      name: 'field selectors: names and namespaces everywhere, others by kind',
      async run(s) {
        const path = s.path('secrets')
        await s.prepare('POST', path, secret('a'))
        await s.prepare('POST', path, secret('b', {}, { type: 'example.com/other' }))
        await select(s, path, 'fieldSelector', [
          'metadata.name=a',
          'metadata.name!=a',
          'metadata.name=a,metadata.name=b',
          `metadata.namespace=${s.namespace}`,
          'metadata.namespace=elsewhere',
          'type=Opaque',
          'type=example.com/other',
          'metadata.name=none',
          'metadata.uid=x',
          'nonsense',
          'data=x',
          '',
        ])
        await s.call(
          'GET',
          `/api/v1/secrets?fieldSelector=metadata.name%3Da%2Cmetadata.namespace%3D${s.namespace}`,
          {
            show: names,
          },
        )
      },
    },
    {
      name: 'field selectors of pods',
      async run(s) {
        const path = s.path('pods')
        await s.prepare('POST', path, pod('a'))
        await s.prepare('POST', path, pod('b', { nodeName: 'nowhere' }))
        await select(s, path, 'fieldSelector', [
          'spec.nodeName=nowhere',
          'spec.nodeName!=nowhere',
          'spec.nodeName=',
          'status.phase=Pending',
          'status.phase!=Pending',
          'spec.restartPolicy=Always',
          'spec.schedulerName=nobody',
          'status.hostIP=1',
          'spec.containers=x',
        ])
      },
    },
    {
      name: 'field selectors of custom kinds',
      async run(s) {
        const { path, widget } = await defineWidgets(s)
        await s.prepare('POST', path, widget('a'))
        await s.prepare('POST', path, widget('b'))
        await select(s, path, 'fieldSelector', [
          'metadata.name=a',
          'metadata.name!=a',
          'spec.size=1',
          'nonsense',
        ])
      },
    },
  ],
}
