import type { Json } from '../json.ts'
import type { Session } from '../session.ts'

type Fields = Record<string, unknown>

export function configMap(name: string, data: Fields = {}, metadata: Fields = {}): Json {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...metadata }, data }
}

export function secret(name: string, metadata: Fields = {}, rest: Fields = {}): Json {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name, ...metadata }, ...rest }
}

export const leaseGroup = 'coordination.k8s.io/v1'

export function lease(name: string, spec: Fields, metadata: Fields = {}): Json {
  return { apiVersion: leaseGroup, kind: 'Lease', metadata: { name, ...metadata }, spec }
}

/** A pod that no scheduler looks at; with `spec.nodeName` it is on a node that no kubelet manages. */
export function pod(name: string, spec: Fields = {}, metadata: Fields = {}): Json {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, ...metadata },
    spec: { schedulerName: 'nobody', containers: [{ name: 'main', image: 'model:1' }], ...spec },
  }
}

export const crdsPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

/** A custom kind of the probe's own. */
export interface Widgets {
  crd: string
  group: string
  kind: string
  /** The path of the collection in the probe's namespace. */
  path: string
  widget(name: string, metadata?: Fields, rest?: Fields): Json
}

/** What the definition of the probe's own kind says. */
export function widgetDefinition(session: Session): Json {
  const group = `c${session.unique}.example.com`
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `widgets.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'widgets', singular: 'widget', kind: `Widget-${session.unique}`, shortNames: ['wdg'] },
      versions: [
        {
          name: 'v1alpha1',
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  }
}

/** Defines a kind of the probe's own and waits until it is served. */
export async function defineWidgets(session: Session): Promise<Widgets> {
  const definition = widgetDefinition(session)
  session.owns(`${crdsPath}/${definition.metadata.name}`)
  await session.prepare('POST', crdsPath, definition)
  const widgets = widgetsOf(session)
  await session.until('the kind is served', widgets.path, ({ status }) => status === 200)
  return widgets
}

export function widgetsOf(session: Session): Widgets {
  const { spec, metadata } = widgetDefinition(session)
  const apiVersion = `${spec.group}/v1alpha1`
  return {
    crd: `${crdsPath}/${metadata.name}`,
    group: spec.group,
    kind: spec.names.kind,
    path: session.path('widgets', apiVersion),
    widget: (name, own = {}, rest = {}) => ({
      apiVersion,
      kind: spec.names.kind,
      metadata: { name, ...own },
      spec: { size: 1 },
      ...rest,
    }),
  }
}
