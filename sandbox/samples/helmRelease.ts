import type { KubeObject } from '../api/types.ts'
import { chartDefaults } from '../charts/render.ts'
import type { HelmHook, HelmRelease, ReleaseStatus } from '../helm/payload.ts'
import { encodeRelease } from '../helm/payload.ts'
import { releaseSecret } from '../helm/storage.ts'

/** One revision of a release as helm would have stored it. */
export interface Revision {
  namespace: string
  name: string
  revision: number
  status: ReleaseStatus
  chart: { name: string; version: string; appVersion: string }
  config: Record<string, unknown>
  /** The objects that were rendered. */
  objects: KubeObject[]
  hooks?: HelmHook[]
  description: string
  firstDeployed: string
  lastDeployed: string
}

/** What helm would write down of a revision. */
export function helmRelease(of: Revision): HelmRelease {
  const { name: chart, version, appVersion } = of.chart
  return {
    name: of.name,
    info: {
      first_deployed: of.firstDeployed,
      last_deployed: of.lastDeployed,
      description: of.description,
      status: of.status,
      notes: `${of.name} serves ${appVersion} with ${chart}.\n`,
    },
    chart: {
      metadata: {
        name: chart,
        version,
        description: `Serves a model with ${chart}`,
        apiVersion: 'v2',
        appVersion,
        type: 'application',
      },
      lock: null,
      templates: [],
      values: chartDefaults,
      schema: null,
      schemamodtime: '0001-01-01T00:00:00Z',
      files: [],
      modtime: of.firstDeployed,
    },
    config: of.config,
    manifest: manifestOf(chart, of.objects),
    hooks: of.hooks ?? [],
    version: of.revision,
    namespace: of.namespace,
    apply_method: 'ssa',
  }
}

/** The Secret of a revision. `level` is gzip's. */
export function helmSecret(of: Revision, level?: number): KubeObject {
  const release = helmRelease(of)
  const modifiedAt = String(Math.floor(Date.parse(of.lastDeployed) / 1000))
  const secret = releaseSecret(release, { modifiedAt }, encodeRelease(release, level))
  return { ...secret, metadata: { ...secret.metadata, creationTimestamp: of.lastDeployed } }
}

/** Documents as helm writes them; each is JSON, which is YAML as well. What the cluster adds is left out. */
function manifestOf(chart: string, objects: KubeObject[]): string {
  return objects
    .map(({ apiVersion, kind, metadata, spec }) => {
      const { name, namespace, labels, annotations } = metadata
      const own = Object.entries(annotations ?? {}).filter(([key]) => !key.startsWith('meta.helm.sh/'))
      const rendered = {
        apiVersion,
        kind,
        metadata: {
          name,
          namespace,
          labels,
          ...(own.length > 0 ? { annotations: Object.fromEntries(own) } : {}),
        },
        spec,
      }
      return `---\n# Source: ${chart}/templates/${kind.toLowerCase()}.yaml\n${JSON.stringify(rendered)}\n`
    })
    .join('')
}

/** A pre-delete hook that fails after two seconds. */
export function failingHook(
  release: { namespace: string; name: string },
  chart: string,
  message: string,
): HelmHook {
  const name = `${release.name}-drain`
  const manifest = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name,
      labels: { 'app.kubernetes.io/instance': release.name, 'app.kubernetes.io/managed-by': 'Helm' },
      annotations: {
        'helm.sh/hook': 'pre-delete',
        'helm.sh/hook-delete-policy': 'before-hook-creation',
        'sandbox.swiss/hook-fails': message,
        'sandbox.swiss/hook-seconds': '2',
      },
    },
    spec: {
      backoffLimit: 0,
      template: {
        spec: {
          restartPolicy: 'Never',
          containers: [{ name: 'drain', image: 'busybox', command: ['false'] }],
        },
      },
    },
  }
  return {
    name,
    kind: 'Job',
    path: `${chart}/templates/drain-job.yaml`,
    manifest: JSON.stringify(manifest),
    events: ['pre-delete'],
    last_run: { phase: '' },
    delete_policies: ['before-hook-creation'],
  }
}
