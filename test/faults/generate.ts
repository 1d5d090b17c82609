/** Makes a schedule of a seed: which releases there are, and what happens to them in which order. */
import { Random } from './random.ts'
import {
  CALL_FAULTS,
  type CallFault,
  type CallMatch,
  CHECKPOINTS,
  type ClusterStep,
  type CrashPoint,
  FOREIGN_ACTIONS,
  type GatewayName,
  NODE_ACTIONS,
  OPERATOR_ACTIONS,
  type PodPlan,
  type ReleasePlan,
  type Schedule,
  type Step,
  WATCH_FAULTS,
} from './schedule.ts'

const NAMESPACES = ['team-a', 'team-b']
const NAMES = ['chat', 'embed', 'rerank']
export const NODES = ['n1', 'n2']
const ACTORS = ['ada', 'ben', 'cy']
const WATCHED = ['ConfigMap', 'Secret', 'Pod', 'Node', 'LLMService', 'Lease']

/** The schedule of a seed; always the same. */
export function generate(seed: number): Schedule {
  return new Generator(seed).make()
}

class Generator {
  readonly #seed: number
  readonly #random: Random
  #releases: ReleasePlan[] = []
  #replicas: 1 | 2 = 1
  #requests = 0

  constructor(seed: number) {
    this.#seed = seed
    this.#random = new Random(seed)
  }

  make(): Schedule {
    const random = this.#random
    this.#replicas = random.chance(0.55) ? 2 : 1
    const count = random.int(1, 3)
    this.#releases = NAMES.slice(0, count).map((name) => this.#release(name))
    const steps: Step[] = []
    const length = random.int(8, 24)
    if (random.chance(0.5)) steps.push(...this.#group())
    while (steps.length < length) steps.push(...(random.chance(0.35) ? this.#story() : this.#group()))
    if (this.#seed % 5 === 0) steps.push(...this.#rare())
    return { seed: this.#seed, replicas: this.#replicas, releases: this.#releases, steps }
  }

  #release(name: string): ReleasePlan {
    const random = this.#random
    const kind = random.weighted({ helm: 6, leftover: 1, untracked: 1, service: 2, servicePlan: 2 })
    return {
      namespace: random.pick(NAMESPACES),
      name,
      kind,
      pods: Array.from({ length: random.int(0, 3) }, (_, index) => this.#pod(name, index)),
      finalizer: random.chance(0.75),
      podsFollow: random.chance(0.7),
    }
  }

  #pod(release: string, index: number): PodPlan {
    const random = this.#random
    const label = random.chance(0.75) ? 'instance' : 'app'
    return {
      // Some bear no trace of the release in their name, as operators' pods do.
      name: random.chance(0.6) ? `${release}-${index}` : `engine-${index}-of-${release}`,
      label,
      node: random.pick(NODES),
      grace: random.pick([0, 5, 30, 30]),
      finalizer: random.chance(0.15),
    }
  }

  /** One uninstall with something in its way, and as far on as it comes. */
  #story(): Step[] {
    const random = this.#random
    const release = this.#anyRelease()
    const hurdle = (): Step[] => {
      switch (random.weighted({ fault: 4, reap: 4, meddler: 3, between: 2, crash: 7, helm: 5, none: 1 })) {
        case 'fault':
          return [this.#fault()]
        case 'between':
          return [this.#between(release)]
        case 'reap':
          return [this.#reapFault()]
        case 'meddler':
          return [this.#meddler(release)]
        case 'crash':
          return [this.#step({ do: 'crash', on: '', at: this.#crashPoint() })]
        case 'helm':
          return [this.#helm()]
        case 'none':
          return []
      }
    }
    const uninstall = { ...this.#uninstall(), release, wrong: null } as Step
    const gone: Step[] = [
      this.#step({ do: 'pods', release, action: 'removeAll', pick: 0 }),
      this.#step({ do: 'operator', release, action: 'finish' }),
    ]
    const onward = (): Step[] => [
      random.chance(0.7) ? this.#advance() : this.#step({ do: 'tick', on: this.#on() }),
    ]
    const revive = (): Step[] => (random.chance(0.6) ? [this.#step({ do: 'start', on: this.#on() })] : [])
    return [
      ...hurdle(),
      ...(random.chance(0.4) ? hurdle() : []),
      uninstall,
      ...(random.chance(0.4) ? this.#group() : []),
      ...onward(),
      ...revive(),
      ...(random.chance(0.3) ? hurdle() : []),
      ...(random.chance(0.8) ? gone : []),
      ...onward(),
      ...revive(),
    ]
  }

  /** What belongs together: mostly one step, sometimes two or three that make a known hazard. */
  #group(): Step[] {
    const random = this.#random
    const kind = random.weighted({
      uninstall: 16,
      race: 5,
      helm: 9,
      pods: 16,
      node: 5,
      operator: 12,
      foreign: 8,
      fault: 14,
      watch: 6,
      between: 9,
      crash: 9,
      start: 6,
      advance: 16,
      tick: 10,
      read: 3,
      reconnect: 7,
      heal: 4,
      crd: 1,
      revive: 5,
      blind: 6,
    })
    switch (kind) {
      case 'uninstall':
        return [this.#uninstall()]
      case 'race':
        return this.#race()
      case 'helm':
        return [this.#helm(), this.#uninstall()]
      case 'pods':
      case 'node':
      case 'operator':
      case 'foreign':
        return [this.#step(this.#cluster(kind))]
      case 'fault':
        return [this.#fault()]
      case 'watch':
        return [this.#step({ do: 'watch', what: random.pick(WATCH_FAULTS), kind: random.pick(WATCHED) })]
      case 'between':
        return [this.#between()]
      case 'crash':
        return [this.#step({ do: 'crash', on: random.chance(0.5) ? '' : this.#on(), at: this.#crashPoint() })]
      case 'start':
        return [this.#step({ do: 'start', on: this.#on() })]
      case 'advance':
        return [this.#advance()]
      case 'tick':
        return [this.#step({ do: 'tick', on: this.#on() })]
      case 'read':
        return [this.#step({ do: 'read', on: this.#on() })]
      case 'reconnect':
        return [this.#step({ do: 'reconnect', on: this.#on(), away: random.int(0, 5) }, true)]
      case 'heal':
        return [this.#step({ do: 'heal' })]
      case 'crd':
        return [
          this.#step({ do: 'crd', served: false }),
          this.#advance(),
          this.#step({ do: 'crd', served: true }),
        ]
      case 'revive': {
        const on = this.#on()
        return [
          this.#step({ do: 'crash', on, at: 'now' }),
          ...(random.chance(0.5) ? [this.#advance()] : []),
          this.#step({ do: 'start', on }),
        ]
      }
      case 'blind':
        return this.#blind()
    }
  }

  /** Two requests for one release at about the same time, of which one is held up on its way. */
  #race(): Step[] {
    const random = this.#random
    const release = this.#anyRelease()
    const first = random.pick(['a', 'b'] as const)
    const second = this.#replicas === 2 ? (first === 'a' ? 'b' : 'a') : first
    const slow: Step = {
      settled: false,
      do: 'fault',
      what: 'slow',
      times: random.int(1, 2),
      seconds: random.int(2, 25),
      on: second,
      verb: random.pick(['get', 'get', 'update', 'create']),
      kind: random.pick(['Lease', 'Lease', 'ConfigMap']),
      name: random.pick(['swiss-lock-', 'swiss-']),
    }
    const ask = (on: GatewayName) =>
      ({ ...this.#uninstall(), release, on, settled: false, wrong: null }) as Step
    return [...(random.chance(0.7) ? [slow] : []), ask(second), ask(first), this.#advance(random.int(5, 40))]
  }

  /** Hazards that chance alone seldom puts together. */
  #rare(): Step[] {
    const random = new Random(this.#seed + 7919)
    const release = random.int(0, this.#releases.length - 1)
    const kind = this.#releases[release]?.kind
    const fault = (what: CallFault, verb: string, kind: string): Step => ({
      ...{ settled: true, do: 'fault', what, times: 8, seconds: 0 },
      ...{ on: '', verb, kind, name: '' },
    })
    const uninstall: Step = {
      ...{ settled: true, do: 'uninstall', release, on: 'a', id: this.#requests++, actor: 'ada' },
      ...{ waitFor: 'ACCEPTED', wrong: null },
    }
    const start: Step = { settled: true, do: 'start', on: 'a' }
    const advance: Step = { settled: true, do: 'advance', seconds: 6 }
    if (kind === 'service' || kind === 'servicePlan') {
      return [start, uninstall, fault('403', 'get', 'LLMService'), advance, advance, advance]
    }
    if (random.chance(0.3)) return [start, fault('503', 'delete', 'Secret'), uninstall, advance]
    const slow: Step = { settled: true, do: 'helm', behaviour: 'slow', seconds: 12 }
    const lost: Step = { settled: true, do: 'foreign', release, action: 'deletePlan' }
    return [start, slow, uninstall, lost, advance, advance, advance]
  }

  /** Pods or records change while nobody is told, and then the release is uninstalled. */
  #blind(): Step[] {
    const random = this.#random
    const release = this.#anyRelease()
    const kind = random.pick(['Pod', 'Pod', 'Pod', 'Secret', 'ConfigMap', 'LLMService', 'Lease'])
    const pods = (action: 'add' | 'again' | 'remove' | 'removeAll'): Step =>
      this.#step({ do: 'pods', release, action, pick: random.int(0, 9) })
    return [
      this.#step({ do: 'watch', what: 'silent', kind }, true),
      pods('removeAll'),
      pods(random.pick(['add', 'add', 'again'])),
      { ...this.#uninstall(), release } as Step,
      ...(random.chance(0.3) ? [pods('remove')] : []),
      random.chance(0.6) ? this.#advance(12) : this.#step({ do: 'tick', on: this.#on() }),
    ]
  }

  #uninstall(): Step {
    const random = this.#random
    return {
      settled: random.chance(0.8),
      do: 'uninstall',
      release: this.#anyRelease(),
      on: this.#on(),
      id: this.#requests++,
      actor: random.pick(ACTORS),
      waitFor: random.weighted({ ACCEPTED: 5, HELM: 4, GONE: 3 }),
      wrong: random.chance(0.12) ? random.pick(['revision', 'uid', 'name']) : null,
    }
  }

  #helm(): Step {
    const random = this.#random
    const behaviour = random.weighted({
      ok: 3,
      error: 3,
      killed: 3,
      slow: 5,
      keeps: 2,
      unstarted: 1,
      missing: 1,
    })
    return this.#step({ do: 'helm', behaviour, seconds: random.pick([3, 12, 45]) })
  }

  #cluster(kind: ClusterStep['do'], release = this.#anyRelease()): ClusterStep {
    const random = this.#random
    switch (kind) {
      case 'pods': {
        const action = random.weighted({
          ...{ add: 2, again: 2, delete: 4, remove: 3, removeAll: 4, finish: 1, finalizer: 1 },
        })
        return { do: 'pods', release, action, pick: random.int(0, 9) }
      }
      case 'node':
        return { do: 'node', node: random.pick(NODES), action: random.pick(NODE_ACTIONS) }
      case 'operator':
        return { do: 'operator', release, action: random.pick(OPERATOR_ACTIONS) }
      case 'foreign':
        return { do: 'foreign', release, action: random.pick(FOREIGN_ACTIONS) }
    }
  }

  #match(): CallMatch {
    const random = this.#random
    const on = random.pick(['a', 'b', '', '', ''] as const)
    const [verb, kind, name] = random.pick([
      ['get', 'ConfigMap', 'swiss-plan-'],
      ['get', 'ConfigMap', 'swiss-uninstall-'],
      ['update', 'ConfigMap', 'swiss-plan-'],
      ['create', 'ConfigMap', 'swiss-uninstall-'],
      ['delete', 'ConfigMap', 'swiss-plan-'],
      ['delete', 'ConfigMap', 'swiss-plan-'],
      ['delete', 'ConfigMap', 'swiss-uninstall-'],
      ['delete', 'ConfigMap', 'swiss-autoscale-'],
      ['delete', 'Secret', 'swiss.plan.v1.'],
      ['list', 'Secret', ''],
      ['list', 'Pod', ''],
      ['get', 'Node', ''],
      ['get', 'LLMService', ''],
      ['delete', 'LLMService', ''],
      ['get', 'Lease', 'swiss-lock-'],
      ['create', 'Lease', 'swiss-lock-'],
      ['update', 'Lease', 'swiss-lock-'],
      ['update', 'Lease', 'swiss-gateway-leader'],
      ['delete', 'Lease', 'swiss-lock-'],
    ] as const)
    return { on, verb, kind, name }
  }

  #fault(): Step {
    const random = this.#random
    const what = random.pick(CALL_FAULTS)
    const watch = random.chance(0.1) && ['503', '403', '429', '500', 'refused'].includes(what)
    const match = watch
      ? { on: '' as const, verb: random.pick(['watch', 'list']), kind: random.pick(WATCHED), name: '' }
      : this.#match()
    const times = what === '409' ? random.pick([1, 3, 25]) : random.pick([1, 1, 2, 4])
    return this.#step({ do: 'fault', what, times, seconds: random.int(1, 20), ...match })
  }

  /** One of the calls that end an uninstall goes wrong. */
  #reapFault(): Step {
    const random = this.#random
    const name = random.pick(['swiss-plan-', 'swiss-plan-', 'swiss-autoscale-', 'swiss-uninstall-'])
    const what = random.pick(CALL_FAULTS)
    const match: CallMatch = { on: '', verb: 'delete', kind: 'ConfigMap', name }
    return this.#step({ do: 'fault', what, times: random.int(1, 2), seconds: random.int(1, 20), ...match })
  }

  /** Another tool writes the plan just before it is deleted. */
  #meddler(release: number): Step {
    const random = this.#random
    const action = random.pick([
      'recreatePlan',
      'recreatePlan',
      'overwrite',
      'annotate',
      'deletePlan',
    ] as const)
    const step: ClusterStep = { do: 'foreign', release, action }
    const match: CallMatch = { on: '', verb: 'delete', kind: 'ConfigMap', name: 'swiss-plan-' }
    return this.#step({ do: 'between', step, ...match })
  }

  #between(release = this.#anyRelease()): Step {
    const random = this.#random
    const kind = random.weighted({ foreign: 5, operator: 4, pods: 2 })
    const step = this.#cluster(kind, release)
    // What appears between the last look and the deletion cannot be seen by anybody.
    if (step.do === 'pods' && (step.action === 'add' || step.action === 'again')) step.action = 'remove'
    return this.#step({ do: 'between', step, ...this.#match() })
  }

  #crashPoint(): CrashPoint {
    const random = this.#random
    const kind = random.weighted({ point: 7, call: 4, now: 1 })
    if (kind === 'now') return 'now'
    if (kind === 'point') return random.pick(CHECKPOINTS)
    return { call: random.int(1, 25), when: random.pick(['before', 'after']) }
  }

  #advance(seconds = this.#random.pick([1, 6, 6, 12, 12, 35])): Step {
    return this.#step({ do: 'advance', seconds }, true)
  }

  #on(): GatewayName {
    return this.#replicas === 2 ? this.#random.pick(['a', 'b']) : 'a'
  }

  #anyRelease(): number {
    return this.#random.int(0, this.#releases.length - 1)
  }

  #step<T extends object>(step: T, settled = this.#random.chance(0.8)): Step {
    return { settled, ...step } as unknown as Step
  }
}
