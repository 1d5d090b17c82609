import { expired } from './status.ts'
import type { ApiServerOptions, Fault } from './types.ts'
import type { WatchHub } from './watchHub.ts'
import type { WatchStream } from './watchStream.ts'

/** A call as a fault sees it. */
export interface FaultTarget {
  verb: string
  kind: string
  namespace: string
  name: string
  userAgent: string
  token: string
}

interface Armed {
  fault: Fault
  left: number
}

/** The faults that are armed, oldest first. */
export class Faults {
  private armed: Armed[] = []
  private readonly hub: WatchHub
  private readonly appliesTo: NonNullable<ApiServerOptions['faultsApplyTo']>

  constructor(hub: WatchHub, appliesTo: ApiServerOptions['faultsApplyTo']) {
    this.hub = hub
    this.appliesTo = appliesTo ?? (() => true)
  }

  /** Arms a fault. One for watches that drops, expires or silences acts on the open streams at once. */
  arm(fault: Fault): void {
    const armed: Armed = { fault, left: fault.times ?? Number.POSITIVE_INFINITY }
    if (fault.verb === 'watch' && !answers(fault) && actsOnStreams(fault)) {
      const streams = this.openStreams(fault)
      for (const stream of streams) this.act(fault, stream)
      // All open streams together are one call of `times`.
      if (streams.length > 0) armed.left -= 1
    }
    if (armed.left > 0) this.armed.push(armed)
  }

  clear(): void {
    this.armed = []
  }

  /** The fault that answers this call, if any; one of its times is used up. */
  take(call: FaultTarget): Fault | undefined {
    if (!this.appliesTo({ userAgent: call.userAgent, token: call.token })) return undefined
    const armed = this.armed.find(({ fault }) => matches(fault, call))
    if (armed === undefined) return undefined
    armed.left -= 1
    if (armed.left <= 0) this.armed = this.armed.filter((one) => one !== armed)
    return armed.fault
  }

  /** Does to a stream what the fault says. */
  act(fault: Fault, stream: WatchStream): void {
    if (fault.gone === true) stream.fail(expired('The resourceVersion for the provided watch is too old.'))
    else if (fault.drop === true) stream.cut()
    else if (fault.silent === true) stream.silence()
    if (stream.ended) this.hub.remove(stream)
  }

  private openStreams(fault: Fault): WatchStream[] {
    return this.hub.ofKind(fault.kind).filter((stream) => {
      const { userAgent, token, namespace, query } = stream.request
      if (!this.appliesTo({ userAgent, token })) return false
      const call = {
        verb: 'watch',
        kind: fault.kind,
        namespace,
        name: query.fields.name ?? '',
        userAgent,
        token,
      }
      return matches(fault, call)
    })
  }
}

/** True for a fault that acts on streams: it drops them, expires them or makes them silent. */
export function actsOnStreams(fault: Fault): boolean {
  return fault.drop === true || fault.gone === true || fault.silent === true
}

/** True for a fault that answers calls with a status. */
function answers(fault: Fault): boolean {
  return fault.status !== undefined
}

function matches(fault: Fault, call: FaultTarget): boolean {
  if (fault.verb !== call.verb || fault.kind !== call.kind) return false
  if (fault.namespace !== undefined && fault.namespace !== call.namespace) return false
  return fault.name === undefined || fault.name === call.name
}
