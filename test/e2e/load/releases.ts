// Releases without their charts: the objects that a helm and a tool with plans would have left, written straight.
import { NODE } from '../controlPlane.ts'
import { makePlan } from '../release.ts'
import type { StoryContext } from '../story.ts'

export const RELEASES = 2000
export const PODS_EACH = 4
export const NAMESPACES = 20
/** Requests at once. */
const AT_ONCE = 48

export const nameOf = (i: number): string => `model-${String(i).padStart(5, '0')}`

/** In the namespaces `load-0`, `load-1`, … in turn. */
export async function write(context: StoryContext): Promise<void> {
  await Promise.all(Array.from({ length: NAMESPACES }, (_, i) => context.makeNamespace(`load-${i}`)))
  const numbers = Array.from({ length: RELEASES }, (_, i) => i).values()
  const worker = async (): Promise<void> => {
    for (const i of numbers) await writeRelease(context, i)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, () => worker()))
}

async function writeRelease({ cluster: { kube } }: StoryContext, i: number): Promise<void> {
  const [namespace, name] = [`load-${i % NAMESPACES}`, nameOf(i)]
  await makePlan(kube, namespace, name)
  await kube.create(`/api/v1/namespaces/${namespace}/secrets`, {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'helm.sh/release.v1',
    metadata: {
      name: `sh.helm.release.v1.${name}.v1`,
      labels: { owner: 'helm', name, version: '1', status: 'deployed' },
    },
    // About as long as a small chart's.
    stringData: { release: 'A'.repeat(4000) },
  })
  for (let pod = 0; pod < PODS_EACH; pod += 1) {
    await kube.create(`/api/v1/namespaces/${namespace}/pods`, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: `${name}-${pod}`,
        labels: {
          'app.kubernetes.io/name': 'e2e-model',
          'app.kubernetes.io/instance': name,
          component: 'server',
        },
      },
      spec: {
        nodeName: NODE,
        containers: [
          {
            name: 'server',
            image: 'model-server:never-pulled',
            args: ['--model', 'none/none', '--tensor-parallel-size', '2', '--port', '8000'],
            ports: [{ name: 'http', containerPort: 8000 }],
            resources: { limits: { 'nvidia.com/gpu': 2 } },
          },
        ],
      },
    })
  }
}
