import { at, recordOf, textOf } from './json.ts'

/** Who a bearer token stands for. */
export interface Identity {
  user: string
  groups: string[]
}

const kinds: Record<string, string> = {
  '/apis/authentication.k8s.io/v1/selfsubjectreviews': 'SelfSubjectReview',
  '/apis/authentication.k8s.io/v1/tokenreviews': 'TokenReview',
  '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews': 'SelfSubjectAccessReview',
}

/** True for a path that takes reviews. */
export function isReviewPath(pathname: string): boolean {
  return kinds[pathname] !== undefined
}

/** The answer to a review. Everybody with a token may do everything here. */
export function review(
  pathname: string,
  body: unknown,
  caller: Identity,
  lookup: (token: string) => Identity | undefined,
): Record<string, unknown> {
  const kind = kinds[pathname] ?? ''
  const group = pathname.split('/')[2] ?? ''
  const head = { kind, apiVersion: `${group}/v1`, metadata: {} }
  if (kind === 'SelfSubjectReview') return { ...head, status: { userInfo: userInfo(caller) } }
  const spec = recordOf(at(body, 'spec'))
  if (kind === 'SelfSubjectAccessReview') return { ...head, spec, status: { allowed: true } }
  const identity = lookup(textOf(spec.token))
  const status =
    identity === undefined
      ? { user: {}, error: 'invalid bearer token' }
      : { authenticated: true, user: userInfo(identity) }
  return { ...head, spec, status }
}

function userInfo(identity: Identity): Record<string, unknown> {
  const groups = identity.groups.includes('system:authenticated')
    ? identity.groups
    : [...identity.groups, 'system:authenticated']
  return { username: identity.user, groups }
}
