/** The parts of a container that say what it holds. */
export interface ResourceContainer {
  restartPolicy?: string
  resources?: { limits?: Record<string, unknown> | null } | null
}

/** `nvidia.com/gpu`, `amd.com/gpu` …, and the slices of one: `nvidia.com/mig-1g.5gb`. */
const GPU = /^(?:[^/]+\/gpu|nvidia\.com\/mig-.+)$/

type Amounts = Map<string, number>

/**
 * GPUs that a pod holds, by the limits of its containers, reckoned as Kubernetes does: init containers run
 * one after another before the others, so the largest of them counts; sidecars (init containers that are
 * restarted always) run beside whatever comes after them.
 */
export function podGpus(
  containers: readonly ResourceContainer[],
  initContainers: readonly ResourceContainer[],
): number {
  const sidecars: Amounts = new Map()
  const largest: Amounts = new Map()
  for (const container of initContainers) {
    const own = gpuLimits(container)
    if (container.restartPolicy === 'Always') add(sidecars, own)
    else for (const [name, amount] of own) raise(largest, name, amount + (sidecars.get(name) ?? 0))
  }
  const running: Amounts = new Map(sidecars)
  for (const container of containers) add(running, gpuLimits(container))
  for (const [name, amount] of running) raise(largest, name, amount)
  let sum = 0
  for (const amount of largest.values()) sum += amount
  return sum
}

function gpuLimits(container: ResourceContainer): Amounts {
  const amounts: Amounts = new Map()
  for (const [name, quantity] of Object.entries(container.resources?.limits ?? {})) {
    // Extended resources are whole numbers. What cannot be read as one is left out, as nobody could hold it.
    const amount = Number(quantity)
    if (GPU.test(name) && Number.isFinite(amount)) amounts.set(name, amount)
  }
  return amounts
}

function add(sum: Amounts, more: Amounts): void {
  for (const [name, amount] of more) sum.set(name, (sum.get(name) ?? 0) + amount)
}

function raise(largest: Amounts, name: string, amount: number): void {
  if (amount > (largest.get(name) ?? 0)) largest.set(name, amount)
}
