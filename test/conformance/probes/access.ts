import type { Json } from '../json.ts'
import type { Subject } from '../probe.ts'
import type { Session } from '../session.ts'
import { configMap, leaseGroup } from './objects.ts'

const authentication = 'authentication.k8s.io/v1'
const authorization = 'authorization.k8s.io/v1'
/** The administrator speaks as somebody who has no rights at all. */
const nobody = { headers: { 'impersonate-user': 'nobody' } }
const stranger = { authorization: 'Bearer a-token-that-nobody-has' }
/** Who the kubeconfig's user is, differs; that it is known does not. */
const known = (body: Json): unknown => ({ ...body, spec: undefined, status: statusOf(body) })
const statusOf = ({ status }: Json): unknown => ({
  ...status,
  user: status.user && Object.keys(status.user).length > 0 ? 'somebody' : status.user,
})

async function ask(s: Session, kind: string, group: string, spec: unknown, options = {}): Promise<void> {
  const path = `/apis/${group}/${kind.toLowerCase()}s`
  await s.call('POST', path, { body: { apiVersion: group, kind, spec }, ...options })
}

export const access: Subject = {
  name: 'access',
  probes: [
    {
      name: 'a token that nobody has: 401, on a watch too',
      async run(s) {
        await s.call('GET', s.path('configmaps'), stranger)
        await s.call('GET', s.path('configmaps/none'), stranger)
        await s.call('POST', s.path('configmaps'), { ...stranger, body: configMap('a') })
        await s.call('GET', '/version', { ...stranger, show: () => 'a version' })
        await s.call('GET', '/nowhere', stranger)
        await s.watch(s.path('configmaps?watch=true'), stranger)
        await s.call('GET', s.path('configmaps'), { authorization: 'Bearer ' })
      },
    },
    {
      name: 'without a token: health and version only',
      async run(s) {
        const anonymous = { authorization: null }
        await s.call('GET', s.path('configmaps'), anonymous)
        await s.call('GET', '/apis', anonymous)
        await s.call('GET', '/version', { ...anonymous, show: ({ major }) => major })
        for (const path of ['/readyz', '/livez', '/healthz']) await s.call('GET', path, anonymous)
      },
    },
    {
      name: 'without rights: 403 in words of user, verb and resource, on a watch too',
      async run(s) {
        await s.prepare('POST', s.path('configmaps'), configMap('a'))
        const path = s.path('configmaps')
        await s.call('GET', path, nobody)
        await s.call('GET', `${path}/a`, nobody)
        await s.call('GET', `${path}/none`, nobody)
        await s.call('GET', '/api/v1/configmaps', nobody)
        await s.call('GET', '/api/v1/nodes', nobody)
        await s.call('GET', `/api/v1/namespaces/${s.namespace}`, nobody)
        await s.call('GET', s.path('leases/x', leaseGroup), nobody)
        await s.call('POST', path, { ...nobody, body: configMap('b') })
        await s.call('PUT', `${path}/a`, { ...nobody, body: configMap('a') })
        await s.call('PATCH', `${path}/a`, { ...nobody, body: {}, type: 'application/merge-patch+json' })
        await s.call('DELETE', `${path}/a`, nobody)
        await s.call('DELETE', path, nobody)
        await s.call('GET', s.path('pods/a/status'), nobody)
        await s.call('GET', s.path('widgets', 'nowhere.example.com/v1'), nobody)
        await s.call('GET', '/nowhere', nobody)
        await s.watch(`${path}?watch=true`, nobody)
        await s.watch(`${path}?watch=true&fieldSelector=metadata.name%3Da`, nobody)
      },
    },
    {
      name: 'an administrator speaks as another administrator',
      async run(s) {
        const headers = { 'impersonate-user': 'another', 'impersonate-group': 'system:masters' }
        await s.call('GET', s.path('secrets'), { headers })
        await ask(s, 'SelfSubjectReview', authentication, undefined, { headers })
      },
    },
    {
      name: 'may I?',
      async run(s) {
        const get = { resourceAttributes: { verb: 'get', resource: 'pods', namespace: s.namespace } }
        await ask(s, 'SelfSubjectAccessReview', authorization, get, {
          show: ({ kind, spec, status }: Json) => ({ kind, spec, allowed: status.allowed }),
        })
        await ask(s, 'SelfSubjectAccessReview', authorization, get, nobody)
        await ask(s, 'SelfSubjectAccessReview', authorization, {}, {})
        await s.call('GET', `/apis/${authorization}/selfsubjectaccessreviews`)
      },
    },
    {
      name: 'whose token is this?',
      async run(s) {
        await ask(s, 'TokenReview', authentication, { token: 'a-token-that-nobody-has' })
        await ask(s, 'TokenReview', authentication, { token: '' })
        await ask(s, 'TokenReview', authentication, { token: s.token }, { show: known })
        await ask(s, 'TokenReview', authentication, { token: s.token }, nobody)
      },
    },
  ],
}
