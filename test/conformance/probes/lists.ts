import type { Subject } from '../probe.ts'
import type { Session } from '../session.ts'
import { partial, partialList } from '../session.ts'
import { defineWidgets, secret } from './objects.ts'

async function makeSecrets(s: Session, count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    await s.prepare(
      'POST',
      s.path('secrets'),
      secret(`s${index}`, { labels: { odd: String(index % 2 === 1) } }),
    )
  }
}

const token = (text: unknown): string => encodeURIComponent(String(text))

export const lists: Subject = {
  name: 'lists',
  probes: [
    {
      name: 'a list, empty and not, of a built-in kind: items carry no kind',
      async run(s) {
        await s.call('GET', s.path('secrets'))
        await s.call('GET', s.path('secrets'), { accept: partialList })
        await makeSecrets(s, 2)
        await s.call('GET', s.path('secrets'))
        await s.call('GET', s.path('secrets'), { accept: partialList })
        await s.call('GET', s.path('secrets'), { accept: partial })
        await s.call('GET', s.path('secrets'), { accept: `${partialList},application/json` })
      },
    },
    {
      name: 'a list, empty and not, of a custom kind: items carry their kind',
      async run(s) {
        const { path, widget } = await defineWidgets(s)
        await s.call('GET', path)
        await s.call('GET', path, { accept: partialList })
        for (const name of ['a', 'b', 'c']) await s.prepare('POST', path, widget(name))
        await s.call('GET', path)
        await s.call('GET', path, { accept: partialList })
        const { body } = await s.call('GET', `${path}?limit=2`)
        await s.call('GET', `${path}?limit=2&continue=${token(body.metadata.continue)}`)
      },
    },
    {
      name: 'pages: a limit, tokens, how many remain, and none of it once a selector is given',
      async run(s) {
        await makeSecrets(s, 5)
        const path = s.path('secrets')
        const first = await s.call('GET', `${path}?limit=2`, { accept: partialList })
        const second = await s.call(
          'GET',
          `${path}?limit=2&continue=${token(first.body.metadata.continue)}`,
          {
            accept: partialList,
          },
        )
        await s.call('GET', `${path}?limit=2&continue=${token(second.body.metadata.continue)}`, {
          accept: partialList,
        })
        await s.call('GET', `${path}?limit=1&labelSelector=odd%3Dtrue`, { accept: partialList })
        await s.call('GET', `${path}?limit=2&labelSelector=odd%3Dtrue`, { accept: partialList })
        await s.call('GET', `${path}?limit=1&fieldSelector=metadata.name%3Ds3`, { accept: partialList })
        await s.call('GET', `${path}?limit=5`, { accept: partialList })
        await s.call('GET', `${path}?limit=0`, { accept: partialList })
      },
    },
    {
      name: 'the pages of one list are of one version',
      async run(s) {
        await makeSecrets(s, 3)
        const path = s.path('secrets')
        const first = await s.call('GET', `${path}?limit=1`, { accept: partialList })
        await s.prepare('DELETE', `${path}/s1`)
        await s.prepare('POST', path, secret('s9'))
        const next = `${path}?limit=5&continue=${token(first.body.metadata.continue)}`
        const second = await s.call('GET', next, { accept: partialList })
        const { resourceVersion } = first.body.metadata
        s.note('both have the version of the first', resourceVersion === second.body.metadata.resourceVersion)
        const exact = `${path}?resourceVersionMatch=Exact&resourceVersion=${resourceVersion}`
        await s.call('GET', exact, { accept: partialList })
        await s.call('GET', path, { accept: partialList })
      },
    },
    {
      name: 'tokens that are none, and tokens with what does not go with them',
      async run(s) {
        await makeSecrets(s, 2)
        const path = s.path('secrets')
        const { body } = await s.call('GET', `${path}?limit=1`, { show: () => 'a page' })
        const good = `${path}?continue=${token(body.metadata.continue)}`
        await s.call('GET', `${path}?continue=nonsense`)
        await s.call('GET', `${good}&resourceVersion=0`, { accept: partialList })
        await s.call('GET', `${good}&resourceVersion=5000`)
        await s.call('GET', `${good}&resourceVersionMatch=NotOlderThan`)
      },
    },
    {
      name: 'versions asked for: any, one that is known, one in the future',
      async run(s) {
        await makeSecrets(s, 2)
        const path = s.path('secrets')
        const { body } = await s.call('GET', path, { show: () => 'a list' })
        // From the cache, which may lag: only that it answers is certain.
        await s.call('GET', `${path}?resourceVersion=0&limit=1`, { show: ({ kind }) => kind })
        const { resourceVersion } = body.metadata
        const since = `${path}?resourceVersion=${resourceVersion}`
        await s.call('GET', since, { accept: partialList })
        await s.call('GET', `${since}&limit=1`, { accept: partialList })
        await s.call('GET', `${since}&resourceVersionMatch=NotOlderThan&limit=1`, { accept: partialList })
        await s.call('GET', `${path}?resourceVersion=99999999`, { showHeaders: ['retry-after'] })
        await s.call('GET', `${path}?resourceVersion=99999999&resourceVersionMatch=Exact`)
        await s.call('GET', `${path}/s0?resourceVersion=99999999`)
        await s.call('GET', `${path}/s0?resourceVersion=0`, { show: ({ kind }) => kind })
      },
    },
    {
      name: 'options that make no sense',
      async run(s) {
        const path = s.path('secrets')
        await s.call('GET', `${path}?resourceVersionMatch=Exact`)
        await s.call('GET', `${path}?resourceVersionMatch=Sometimes&resourceVersion=5000`)
        await s.call('GET', `${path}?resourceVersionMatch=Exact&resourceVersion=0`)
        await s.call('GET', `${path}?sendInitialEvents=true`)
        await s.call('GET', `${path}?resourceVersion=abc`)
        await s.call('GET', `${path}?limit=abc`)
        await s.call('GET', `${path}?limit=-1`)
        await s.call('GET', `${path}?timeoutSeconds=abc`)
        // Anything but false and 0 is true.
        await s.watch(`${path}?watch=abc&timeoutSeconds=60`)
      },
    },
    {
      name: 'the order of a list is that of the names, byte by byte',
      async run(s) {
        for (const name of ['b', 'a-b', 'a.b', 'ab', 'a0', 'a'])
          await s.prepare('POST', s.path('secrets'), secret(name))
        await s.call('GET', s.path('secrets'), {
          show: ({ items }) => items.map((one: { metadata: { name: string } }) => one.metadata.name),
        })
      },
    },
  ],
}
