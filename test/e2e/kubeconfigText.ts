/** A kubeconfig of one context for a bearer token, or for a file that holds one. JSON, which is YAML. */
export function kubeconfigText(server: string, ca: string, bearer: string | { tokenFile: string }): string {
  const name = 'e2e'
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    contexts: [{ name, context: { cluster: name, user: name } }],
    clusters: [
      { name, cluster: { server, 'certificate-authority-data': Buffer.from(ca).toString('base64') } },
    ],
    users: [{ name, user: typeof bearer === 'string' ? { token: bearer } : bearer }],
  })
}
