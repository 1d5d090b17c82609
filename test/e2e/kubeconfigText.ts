/** A kubeconfig of one context for a bearer token. JSON, which is YAML. */
export function kubeconfigText(server: string, ca: string, token: string): string {
  const name = 'e2e'
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    contexts: [{ name, context: { cluster: name, user: name } }],
    clusters: [
      { name, cluster: { server, 'certificate-authority-data': Buffer.from(ca).toString('base64') } },
    ],
    users: [{ name, user: { token } }],
  })
}
