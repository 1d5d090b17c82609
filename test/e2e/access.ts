// Who the gateways are: the ServiceAccount `swiss`. Their requests are found in the audit log by this user, those of
// the helm that they run by its user agent (`Helm/…`) besides.
import type { ControlPlane } from './controlPlane.ts'
import { KubeError } from './kube.ts'
import { pathOf, rbacObjects } from './rbac.ts'

export const SYSTEM = 'swiss-system'
export const GATEWAY_USER = `system:serviceaccount:${SYSTEM}:swiss`

/** The ServiceAccount with the rights of deploy/rbac and no others, and a token of it that is good for three hours. */
export async function gatewayAccess(cluster: ControlPlane): Promise<string> {
  const { kube } = cluster
  for (const file of ['account.yaml', 'swiss-cluster.yaml', 'helm-cluster.yaml']) {
    for (const object of rbacObjects(file)) await kube.create(pathOf(object), object)
  }
  return tokenOf(cluster, 'swiss', 3 * 3600)
}

/**
 * TokenRequest: a bearer token of a ServiceAccount in `swiss-system`. Seconds, 600 at least; one that is bound to a
 * Secret ends with it.
 */
export async function tokenOf(
  cluster: ControlPlane,
  account: string,
  seconds: number,
  secret?: { name: string; uid: string },
): Promise<string> {
  const answer = await cluster.kube.create(`/api/v1/namespaces/${SYSTEM}/serviceaccounts/${account}/token`, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: {
      expirationSeconds: seconds,
      ...(secret && { boundObjectRef: { apiVersion: 'v1', kind: 'Secret', ...secret } }),
    },
  })
  const token = answer.status?.token
  if (typeof token !== 'string') throw new KubeError(201, 'a TokenRequest without a token')
  return token
}
