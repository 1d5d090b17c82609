import type { Subject } from '../probe.ts'
import { mergePatch } from '../session.ts'
import { lease, leaseGroup } from './objects.ts'

const micro = '2031-01-01T00:00:00.123456Z'

export const leases: Subject = {
  name: 'leases',
  probes: [
    {
      name: 'times need exactly six fractional digits',
      async run(s) {
        const path = s.path('leases', leaseGroup)
        await s.call('POST', path, {
          body: lease('good', { renewTime: micro, acquireTime: micro, holderIdentity: 'a' }),
        })
        for (const renewTime of [
          '2031-01-01T00:00:00Z',
          '2031-01-01T00:00:00.123Z',
          '2031-01-01T00:00:00.123456789Z',
          'yesterday',
        ]) {
          await s.call('POST', path, { body: lease('bad', { renewTime }) })
        }
        await s.call('POST', path, { body: lease('zone', { renewTime: '2031-01-01T02:00:00.123456+02:00' }) })
        await s.call('POST', path, { body: lease('null', { renewTime: null, holderIdentity: null }) })
        await s.call('PATCH', `${path}/good`, {
          body: { spec: { renewTime: '2031-01-01T00:00:00.123Z' } },
          type: mergePatch,
          anyMessage: true,
        })
      },
    },
    {
      name: 'numbers that cannot be',
      async run(s) {
        const path = s.path('leases', leaseGroup)
        await s.call('POST', path, { body: lease('a', { leaseDurationSeconds: 0 }) })
        await s.call('POST', path, { body: lease('a', { leaseDurationSeconds: -1 }) })
        await s.call('POST', path, { body: lease('a', { leaseTransitions: -1 }) })
        await s.call('POST', path, { body: lease('a', { leaseDurationSeconds: '5' }), anyMessage: true })
        await s.call('POST', path, { body: lease('b', {}) })
        await s.call('POST', path, { body: { metadata: { name: 'c' } } })
      },
    },
    {
      name: 'a lock: taken, renewed, lost to another, given back, deleted as it stands',
      async run(s) {
        const path = s.path('leases', leaseGroup)
        const spec = { holderIdentity: 'one', leaseDurationSeconds: 15, acquireTime: micro, renewTime: micro }
        const { body } = await s.call('POST', path, { body: lease('a', { ...spec, leaseTransitions: 0 }) })
        await s.call('POST', path, { body: lease('a', { holderIdentity: 'two' }) })
        const renewed = await s.call('PUT', `${path}/a`, {
          body: { ...body, spec: { ...body.spec, renewTime: '2031-01-01T00:00:05.000000Z' } },
        })
        await s.call('PUT', `${path}/a`, { body: { ...body, spec: { ...body.spec, holderIdentity: 'two' } } })
        const free = { ...renewed.body, spec: { ...renewed.body.spec, holderIdentity: '' } }
        const given = await s.call('PUT', `${path}/a`, { body: free })
        const { uid, resourceVersion } = given.body.metadata
        await s.call('DELETE', `${path}/a`, { body: { preconditions: { uid, resourceVersion: '5' } } })
        await s.call('DELETE', `${path}/a`, { body: { preconditions: { uid, resourceVersion } } })
        await s.call('PUT', `${path}/a`, { body: free })
        await s.call('PUT', `${path}/new`, { body: lease('new', spec) })
        await s.call('GET', `${path}/new`)
      },
    },
  ],
}
