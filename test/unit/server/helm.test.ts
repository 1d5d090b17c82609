import { describe, expect, it } from 'vitest'
import { helmEnvironment } from '../../../server/helm.ts'

const MACHINE = {
  PATH: '/bin',
  HOME: '/home/me',
  HTTPS_PROXY: 'http://proxy.example',
  HELM_CACHE_HOME: '/cache',
  KUBECONFIG: '/home/me/.kube/other',
  HELM_KUBECONTEXT: 'other',
  HELM_KUBEAPISERVER: 'https://other.example',
  HELM_KUBETOKEN: 'token',
  HELM_KUBEASUSER: 'somebody',
  HELM_NAMESPACE: 'other',
  HELM_DRIVER: 'configmap',
}
const KEPT = {
  PATH: '/bin',
  HOME: '/home/me',
  HTTPS_PROXY: 'http://proxy.example',
  HELM_CACHE_HOME: '/cache',
}

describe("helm's environment", () => {
  it('is that of the machine, but on our cluster and context, with the usual storage', () => {
    expect(helmEnvironment({ kubeconfigPath: '/a:/b', contextName: 'ours' }, MACHINE)).toEqual({
      ...KEPT,
      KUBECONFIG: '/a:/b',
      HELM_KUBECONTEXT: 'ours',
    })
  })

  it('names no kubeconfig in a pod', () => {
    expect(helmEnvironment({ kubeconfigPath: null, contextName: 'in-cluster' }, MACHINE)).toEqual(KEPT)
  })
})
