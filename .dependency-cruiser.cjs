/** The arrows of the house: which room may import which. A wrong arrow or a circle fails the build. */
const only = (room, allowed) => ({
  name: `${room}-imports-only`,
  comment: `${room}/ may import ${allowed.join(', ') || 'nothing of the others'}`,
  severity: 'error',
  from: { path: `^${room}/` },
  to: {
    path: '^(schema|resolvers|services|loops|subscriptions|server|sandbox|test|bench)/',
    pathNot: `^(${[room, ...allowed].join('|')})/`,
  },
})

/** The domain flows downwards: a folder of services/ imports those that come before it, never one behind it. */
const flow = [
  'runtime',
  'auth',
  'cluster',
  'helm',
  'plans',
  'pods',
  'canary',
  'audit',
  'autoscale',
  'deployments',
  'releases',
  'slo',
]
const upwards = flow.map((noun, index) => ({
  name: `services-${noun}-imports-downwards`,
  severity: 'error',
  from: { path: `^services/${noun}/` },
  to: {
    path: `^services/(${flow.slice(index + 1).join('|') || 'none'})/`,
    // The words for a release (its reference, its row) are everybody's; they are types and one pure function.
    pathNot: '^services/deployments/row.ts$',
  },
}))

module.exports = {
  forbidden: [
    only('schema', ['services']),
    only('resolvers', ['schema', 'services', 'subscriptions']),
    only('services', []),
    only('loops', ['services']),
    only('subscriptions', ['services']),
    only('sandbox', []),
    {
      name: 'server-never-imports-the-sandbox',
      comment: 'the sandbox is reached through a kubeconfig and HELM_BIN, like any cluster',
      severity: 'error',
      from: { path: '^server/' },
      to: { path: '^(sandbox|test)/' },
    },
    {
      name: 'schema-does-no-io',
      severity: 'error',
      from: { path: '^schema/' },
      to: { path: '(@kubernetes/client-node|undici|kysely|libsql|^node:(fs|http|net|child_process))' },
    },
    {
      name: 'only-the-cluster-knows-the-client-library',
      severity: 'error',
      from: {
        path: '^(schema|resolvers|services|loops|subscriptions)/',
        pathNot: '^services/(cluster/|autoscale/metrics.ts$|slo/sloClient.ts$)',
      },
      to: { path: '(@kubernetes/client-node|node_modules/undici)' },
    },
    {
      name: 'nothing-guards-because-of-a-canary',
      comment: 'a canary relationship is shown, and never looked at by what changes a release',
      severity: 'error',
      from: { path: '^(services/releases|resolvers|loops)/' },
      to: { path: '^services/canary/' },
    },
    ...upwards,
    {
      name: 'no-circles',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    { name: 'nothing-unresolved', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
  },
}
