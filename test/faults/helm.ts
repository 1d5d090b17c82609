/**
 * helm in this process, on the fake clock: a run takes fake time, does to helm's records what helm does, and
 * ends as a supervised helm ends when its gateway dies or its Lease runs out.
 */
import type { Store } from '../../sandbox/api/types.ts'
import type { HelmResult } from '../../services/helm/result.ts'
import type { HelmAvailable, RunOptions } from '../../services/helm/runner.ts'
import type { FakeClock } from '../unit/support/fakeClock.ts'
import type { HELM_BEHAVIOURS } from './schedule.ts'

export type HelmBehaviour = (typeof HELM_BEHAVIOURS)[number]

interface Ref {
  namespace: string
  name: string
}

/** Names of helm's records of a release, as they are now. */
export const helmRecordsOf = (store: Store, { namespace, name }: Ref) =>
  store
    .list('Secret')
    .filter(
      ({ metadata }) =>
        metadata.namespace === namespace &&
        metadata.labels?.owner === 'helm' &&
        metadata.labels.name === name,
    )

/** helm as one cluster knows it: how it behaves, and which runs there are. */
export class HelmWorld {
  behaviour: HelmBehaviour = 'ok'
  seconds = 0
  readonly #store: Store
  readonly clock: FakeClock
  readonly #active = new Map<string, number>()
  readonly #onTwo: (key: string) => void
  readonly #onUninstalled: (ref: Ref) => void
  readonly #onEnd: (how: string, ref: Ref) => void

  constructor(options: {
    store: Store
    clock: FakeClock
    /** Two runs of one release at a time. */
    onTwo: (key: string) => void
    /** helm has dropped the release: the workload goes. */
    onUninstalled: (ref: Ref) => void
    onEnd: (how: string, ref: Ref) => void
  }) {
    this.#store = options.store
    this.clock = options.clock
    this.#onTwo = options.onTwo
    this.#onUninstalled = options.onUninstalled
    this.#onEnd = options.onEnd
  }

  begin(key: string): void {
    const running = (this.#active.get(key) ?? 0) + 1
    this.#active.set(key, running)
    if (running > 1) this.#onTwo(key)
  }

  end(key: string, ref: Ref, how: string): void {
    this.#active.set(key, (this.#active.get(key) ?? 1) - 1)
    this.#onEnd(how, ref)
  }

  get running(): number {
    let sum = 0
    for (const count of this.#active.values()) sum += count
    return sum
  }

  /** What a run does at its end when nobody ended it before. */
  finish(ref: Ref, behaviour: HelmBehaviour): HelmResult {
    const records = helmRecordsOf(this.#store, ref)
    if (records.length === 0) {
      const stderr = `Error: uninstall: Release not loaded: ${ref.name}: release: not found`
      return { kind: 'exited', code: 1, stdout: '', stderr }
    }
    switch (behaviour) {
      case 'error':
        return { kind: 'exited', code: 1, stdout: '', stderr: 'Error: a hook failed' }
      case 'killed':
        this.begun(ref)
        return { kind: 'killed', signal: 'SIGKILL', stdout: '', stderr: '' }
      case 'keeps':
        return { kind: 'exited', code: 0, stdout: `release "${ref.name}" uninstalled`, stderr: '' }
      case 'unstarted':
        return { kind: 'unstarted', message: 'helm could not be started (EAGAIN)' }
      default: {
        for (const { metadata } of records)
          this.#store.remove({ kind: 'Secret', namespace: ref.namespace, name: metadata.name })
        this.#onUninstalled(ref)
        return { kind: 'exited', code: 0, stdout: `release "${ref.name}" uninstalled`, stderr: '' }
      }
    }
  }

  /** helm's first act: the newest record says `uninstalling`. */
  begun(ref: Ref): void {
    const records = helmRecordsOf(this.#store, ref)
    const version = (labels: Record<string, string> | undefined) => Number(labels?.version ?? 0)
    const newest = records.sort((a, b) => version(b.metadata.labels) - version(a.metadata.labels))[0]
    if (!newest) return
    const { name, namespace = '' } = newest.metadata
    this.#store.patch(
      { kind: 'Secret', namespace, name },
      { metadata: { labels: { status: 'uninstalling' } } },
    )
  }
}

/** The runner of one life of a gateway. */
export class FakeHelm {
  readonly #world: HelmWorld
  readonly #runs = new Set<() => void>()

  constructor(world: HelmWorld) {
    this.#world = world
  }

  get running(): number {
    return this.#runs.size
  }

  async available(): Promise<HelmAvailable> {
    return this.#world.behaviour === 'missing'
      ? { missing: 'there is no helm on this machine' }
      : { version: 'v3.19.0' }
  }

  uninstall(ref: Ref, { lease, signal }: RunOptions): Promise<HelmResult> {
    const { clock, behaviour, seconds } = this.#world
    const key = `${ref.namespace}/${ref.name}`
    const lost: HelmResult = { kind: 'lost', stdout: '', stderr: '' }
    if (signal.aborted || lease?.lost.aborted) return Promise.resolve(lost)
    this.#world.begin(key)
    return new Promise((resolve) => {
      const undo: (() => void)[] = []
      const end = (result: HelmResult, how: string) => {
        for (const one of undo) one()
        this.#runs.delete(lose)
        this.#world.end(key, ref, how)
        resolve(result)
      }
      const lose = () => end(lost, 'lost')
      this.#runs.add(lose)
      for (const source of lease ? [signal, lease.lost] : [signal]) {
        source.addEventListener('abort', lose, { once: true })
        undo.push(() => source.removeEventListener('abort', lose))
      }
      if (lease) this.#guard(lease, lose, undo)
      const ms = behaviour === 'slow' ? seconds * 1000 : 0
      if (ms > 0) this.#world.begun(ref)
      undo.push(clock.setTimer(ms, () => end(this.#world.finish(ref, behaviour), behaviour)))
    })
  }

  /** The supervisor ends helm at the deadline of the Lease, whatever the gateway does. */
  #guard(lease: NonNullable<RunOptions['lease']>, lose: () => void, undo: (() => void)[]): void {
    const { clock } = this.#world
    let stop = () => {}
    const until = (deadline: number) => {
      stop()
      stop = clock.setTimer(Math.max(0, deadline - clock.now()), lose)
    }
    until(lease.deadline)
    undo.push(lease.onRenewed(until), () => stop())
  }

  async killAll(): Promise<void> {
    for (const lose of [...this.#runs]) lose()
  }
}
