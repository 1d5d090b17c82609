/**
 * Bugs that are put into the gateway on purpose, to see that the schedules find them: a checker that finds
 * nothing is not trusted. Each changes the classes in place until it is taken out again.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { AuditLog } from '../../services/audit/run.ts'
import { KubeClient } from '../../services/cluster/client.ts'
import { isKubeError, KubeError } from '../../services/cluster/errors.ts'
import { Kinds, type KubeObject } from '../../services/cluster/kinds.ts'
import { ClusterCaches } from '../../services/deployments/caches.ts'
import { ReleaseLocks } from '../../services/releases/lock.ts'
import { Marks } from '../../services/releases/marks.ts'
import { UninstallTracker } from '../../services/releases/tracker.ts'
import { Uninstaller } from '../../services/releases/uninstall.ts'
import { Feed } from '../../subscriptions/feed.ts'
import type { Plant } from './world.ts'

/** Puts a bug in; the result takes it out. */
type Plants = (patch: Patch) => Plant | undefined

/** Puts a method in the place of another; all are put back in the end. */
type Patch = <T extends object, K extends keyof T & string>(
  of: { prototype: T },
  method: K,
  make: (original: T[K]) => T[K],
) => void

export function withPlanted(plants: Plants): { plant: Plant; takeOut: () => void } {
  const undo: (() => void)[] = []
  const plant = plants(({ prototype }, method, make) => {
    const original = prototype[method]
    prototype[method] = make(original)
    undo.push(() => {
      prototype[method] = original
    })
  })
  return {
    plant: plant ?? {},
    takeOut: () => {
      for (const one of undo.reverse()) one()
    },
  }
}

const PLAN = 'swiss-plan-'

export const PLANTED: Record<string, Plants> = {
  'no live confirmation: a pod that the cache has not seen is overlooked': (patch) => {
    let starting: ClusterCaches | null = null
    const caches = new WeakMap<KubeClient, ClusterCaches>()
    patch(
      ClusterCaches,
      'start',
      (original) =>
        function (this: ClusterCaches) {
          starting = this
          try {
            return original.call(this)
          } finally {
            starting = null
          }
        },
    )
    patch(
      KubeClient,
      'listInto',
      (original) =>
        function (this: KubeClient, ...args: Parameters<typeof original>) {
          // The first list of a gateway's caches is asked for while they are started.
          if (starting) caches.set(this, starting)
          return original.apply(this, args)
        } as typeof original,
    )
    patch(
      KubeClient,
      'list',
      (original) =>
        async function (this: KubeClient, ...[kind, options]: Parameters<typeof original>) {
          const live = await original.call(this, kind, options)
          if (kind.kind !== 'Pod') return live
          const known = new Set(
            caches
              .get(this)
              ?.pods.all()
              .map(({ uid }) => uid),
          )
          return { ...live, items: live.items.filter(({ metadata }) => known.has(metadata.uid)) }
        } as typeof original,
    )
    return undefined
  },

  'the plan is deleted first': (patch) => {
    patch(
      KubeClient,
      'list',
      (original) =>
        async function (this: KubeClient, ...[kind, options]: Parameters<typeof original>) {
          // Archives are looked for when the clean-up begins.
          const [, release] = /^owner=swiss,name=(.*)$/.exec(options?.labelSelector ?? '') ?? []
          if (release !== undefined && options?.namespace !== undefined) {
            const plan = { namespace: options.namespace, name: PLAN + release }
            await this.delete(Kinds.ConfigMap, plan).catch(() => {})
          }
          return original.call(this, kind, options)
        } as typeof original,
    )
    return undefined
  },

  'the plan is deleted without preconditions': (patch) => {
    patch(
      KubeClient,
      'delete',
      (original) =>
        function (this: KubeClient, ...[kind, ref, options]: Parameters<typeof original>) {
          const { preconditions: _, ...rest } = options ?? {}
          const isPlan = kind.kind === 'ConfigMap' && ref.name.startsWith(PLAN)
          return original.call(this, kind, ref, isPlan ? rest : options)
        } as typeof original,
    )
    return undefined
  },

  "pods are counted by the release's name in theirs": (patch) => {
    patch(
      KubeClient,
      'list',
      (original) =>
        async function (this: KubeClient, ...[kind, options]: Parameters<typeof original>) {
          const live = await original.call(this, kind, options)
          const [, value] = (options?.labelSelector ?? '').split('=')
          if (kind.kind !== 'Pod' || value === undefined) return live
          const named = ({ metadata }: KubeObject) => value.startsWith(metadata.name.split('-')[0] ?? '')
          return { ...live, items: live.items.filter(named) }
        } as typeof original,
    )
    return undefined
  },

  'a stream that comes back misses the first change': (patch) => {
    patch(
      Feed,
      'resume',
      (original) =>
        function (this: Feed, cursor: string) {
          const from = original.call(this, cursor)
          return typeof from === 'number' ? Math.min(from + 1, this.position) : from
        },
    )
    return undefined
  },

  'who finishes what another began writes a row of its own': () => ({
    audit: (shared: AuditLog) => {
      const own = new Set<string>()
      return {
        ...shared,
        start: (run) => {
          own.add(run.id)
          shared.start(run)
        },
        finish: (run, end) => {
          shared.finish(run, end)
          if (!own.has(run.id)) shared.finish({ ...run, id: `${run.id}-again` }, end)
        },
      }
    },
  }),

  'a mark that has appeared is ignored under the lock': (patch) => {
    const request = new AsyncLocalStorage<{ looks: number }>()
    patch(
      Uninstaller,
      'uninstall',
      (original) =>
        function (this: Uninstaller, ...args: Parameters<typeof original>) {
          return request.run({ looks: 0 }, () => original.apply(this, args))
        },
    )
    patch(
      Marks,
      'read',
      (original) =>
        async function (this: Marks, ...args: Parameters<typeof original>) {
          const asked = request.getStore()
          const live = await original.apply(this, args)
          if (!asked || asked.looks++ === 0 || live.plan === null) return live
          return { plan: { ...live.plan, marked: false }, mark: null }
        },
    )
    patch(
      Marks,
      'put',
      (original) =>
        async function (this: Marks, ...args: Parameters<typeof original>) {
          const outcome = await original.apply(this, args)
          return outcome.kind === 'already' ? { ...outcome, kind: 'marked', replaced: null } : outcome
        },
    )
    return undefined
  },

  'helm is started without the lock': (patch) => {
    patch(
      ReleaseLocks,
      'tryAcquire',
      (original) =>
        async function (this: ReleaseLocks, ...args: Parameters<typeof original>) {
          const attempt = await original.apply(this, args)
          if (attempt.kind === 'held') return attempt
          const free = {
            lost: new AbortController().signal,
            deadline: Number.MAX_SAFE_INTEGER,
            onRenewed: () => () => {},
            release: async () => {},
          }
          return { kind: 'held', lock: free as unknown as Extract<typeof attempt, { kind: 'held' }>['lock'] }
        },
    )
    return undefined
  },

  'GONE is said although the plan could not be deleted': (patch) => {
    patch(
      Marks,
      'deletePlan',
      (original) =>
        async function (this: Marks, ...args: Parameters<typeof original>) {
          await original.apply(this, args).catch(() => {})
        },
    )
    return undefined
  },

  'the row goes when somebody deletes the plan of an uninstall': (patch) => {
    patch(UninstallTracker, 'retained', () => () => null)
    return undefined
  },

  'the lock of a release that is gone stays': (patch) => {
    patch(ReleaseLocks, 'remove', () => async () => {})
    return undefined
  },

  'an LLMService that may not be read is taken for gone': (patch) => {
    patch(
      KubeClient,
      'get',
      (original) =>
        async function (this: KubeClient, ...args: Parameters<typeof original>) {
          try {
            return await original.apply(this, args)
          } catch (error) {
            if (args[0].kind !== 'LLMService' || !isKubeError(error, 'Forbidden', 'NotServed')) throw error
            throw new KubeError('NotFound', error.message)
          }
        } as typeof original,
    )
    return undefined
  },

  'the plan is not put back when the LLMService is not deleted': (patch) => {
    patch(Marks, 'putBack', () => async () => {})
    return undefined
  },
}
