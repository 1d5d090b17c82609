// The phase stream of one release over graphql-ws, as a client would follow it.
import assert from 'node:assert/strict'
import type { Gateway } from './gateway.ts'
import { type PhaseEvent, STREAM, type StreamData } from './queries.ts'
import type { StoryContext } from './story.ts'
import { Fatal, until } from './wait.ts'

export type SeenEvent = PhaseEvent & {
  /** `performance.now()` of its arrival. */
  arrived: number
}

export class Phases {
  readonly events: SeenEvent[] = []
  readonly stop: () => Promise<void>
  readonly #broken: unknown[] = []
  readonly #check: () => void

  private constructor(
    context: StoryContext,
    gateway: Gateway,
    ref: { namespace: string; name: string },
    onEvent: (event: SeenEvent) => void,
  ) {
    this.#check = context.cluster.check
    this.stop = gateway.subscribe<StreamData>(
      STREAM,
      { ns: ref.namespace, name: ref.name },
      ({ deploymentPhaseChanged }) => {
        const event = { ...deploymentPhaseChanged, arrived: performance.now() }
        this.events.push(event)
        onEvent(event)
      },
      (error) => this.#broken.push(error),
    )
    context.atEnd(this.stop)
  }

  /** Resolves when the snapshot is over. `onEvent` is called as each event arrives. */
  static async follow(
    context: StoryContext,
    gateway: Gateway,
    ref: { namespace: string; name: string },
    onEvent: (event: SeenEvent) => void = () => {},
  ): Promise<Phases> {
    const phases = new Phases(context, gateway, ref, onEvent)
    await until('the snapshot is over', 60_000, () => {
      phases.healthy()
      return phases.events.some((e) => e.kind === 'SNAPSHOT_COMPLETE') ? true : undefined
    })
    return phases
  }

  /** Throws when the cluster or the subscription is not what it was. */
  healthy(): void {
    this.#check()
    if (this.#broken.length > 0) throw new Fatal(`the subscription broke: ${String(this.#broken[0])}`)
  }

  /** The first event that says so, as soon as it has come. */
  async reaches(phase: string, withinMs = 120_000): Promise<SeenEvent> {
    return until(`an event says ${phase}`, withinMs, () => {
      this.healthy()
      return this.gone(phase)
    })
  }

  gone(phase = 'GONE'): SeenEvent | undefined {
    return this.events.find((e) => e.kind === 'CHANGED' && e.phase === phase)
  }

  /** The changes so far, `APPLIED > UNINSTALLING`. */
  steps(): string[] {
    return this.events.filter((e) => e.kind === 'CHANGED').map((e) => `${e.previousPhase} > ${e.phase}`)
  }

  /** That these are all the changes there were, in this order. */
  told(...steps: string[]): void {
    this.healthy()
    assert.deepEqual(this.steps(), steps)
  }
}

/** The steps of an uninstall that goes well. */
export const GOES_WELL = ['APPLIED > UNINSTALLING', 'UNINSTALLING > GONE'] as const
