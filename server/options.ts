import { LOG_LEVELS } from './logger.ts'

export type Command = 'serve' | 'sandbox'

/** One flag of the command, with its environment variables. What its text means is said in `config.ts`. */
export interface Option {
  flag: string
  /** What it takes; absent for a switch. */
  takes?: string
  repeatable?: boolean
  /** Looked at in this order when the flag is absent. */
  env: readonly string[]
  commands: readonly Command[]
  group: string
  help: string
  fallback?: string
}

const BOTH = ['serve', 'sandbox'] as const
const SERVE = ['serve'] as const
const SANDBOX = ['sandbox'] as const

/** All flags, in the order in which the help shows them. */
export const OPTIONS: readonly Option[] = [
  {
    flag: 'kubeconfig',
    takes: 'PATH',
    env: ['SWISS_KUBECONFIG'],
    commands: SERVE,
    group: 'Cluster',
    help: 'kubeconfig of the cluster',
    fallback: 'KUBECONFIG, ~/.kube/config, or the service account of the pod',
  },
  {
    flag: 'context',
    takes: 'NAME',
    env: ['SWISS_CONTEXT'],
    commands: SERVE,
    group: 'Cluster',
    help: 'context of the kubeconfig, for helm too',
    fallback: 'the current one',
  },
  {
    flag: 'namespace',
    takes: 'NAME',
    repeatable: true,
    env: ['SWISS_NAMESPACE'],
    commands: BOTH,
    group: 'Cluster',
    help: 'namespace to list and act in; what is outside is neither seen nor touched',
    fallback: 'all',
  },
  {
    flag: 'gateway-namespace',
    takes: 'NAME',
    env: ['SWISS_GATEWAY_NAMESPACE', 'POD_NAMESPACE'],
    commands: SERVE,
    group: 'Cluster',
    help: "the gateway's own namespace, for its leader Lease",
    fallback: "the pod's namespace, outside a cluster that of the context",
  },
  {
    flag: 'cluster-name',
    takes: 'NAME',
    env: ['SWISS_CLUSTER_NAME'],
    commands: BOTH,
    group: 'Cluster',
    help: 'name shown for the cluster',
    fallback: 'the name of the context',
  },
  {
    flag: 'helm-bin',
    takes: 'PATH',
    env: ['SWISS_HELM_BIN', 'HELM_BIN'],
    commands: SERVE,
    group: 'Cluster',
    help: 'helm 3 or 4',
    fallback: 'helm, from the PATH',
  },
  {
    flag: 'read-only',
    env: ['SWISS_READ_ONLY'],
    commands: BOTH,
    group: 'Cluster',
    help: 'refuse every mutation',
  },
  {
    flag: 'host',
    takes: 'ADDRESS',
    env: ['SWISS_HOST'],
    commands: BOTH,
    group: 'Address',
    help: 'loopback address to listen at (there is no authentication yet)',
    fallback: '127.0.0.1',
  },
  {
    flag: 'port',
    takes: 'PORT',
    env: ['SWISS_PORT'],
    commands: BOTH,
    group: 'Address',
    help: 'port to listen at; 0 picks a free one',
    fallback: '4000',
  },
  {
    flag: 'allowed-host',
    takes: 'HOST',
    repeatable: true,
    env: ['SWISS_ALLOWED_HOST'],
    commands: BOTH,
    group: 'Address',
    help: 'Host header of a proxy in front, with its port if it sends one',
    fallback: 'loopback names',
  },
  {
    flag: 'allowed-origin',
    takes: 'ORIGIN',
    repeatable: true,
    env: ['SWISS_ALLOWED_ORIGIN'],
    commands: BOTH,
    group: 'Address',
    help: 'origin whose pages may call, such as https://console.example.com',
    fallback: "the gateway's own",
  },
  {
    flag: 'audit-db',
    takes: 'PATH',
    env: ['SWISS_AUDIT_DB'],
    commands: SERVE,
    group: 'Gateway',
    help: 'SQLite file of the runs',
    fallback: 'one per cluster in ~/.local/state/swiss-gateway',
  },
  {
    flag: 'audit-url',
    takes: 'URL',
    env: ['SWISS_AUDIT_URL'],
    commands: SERVE,
    group: 'Gateway',
    help: 'PostgreSQL database of the runs, one for all gateways, such as postgres://user@host/swiss; wins over --audit-db',
    fallback: 'none; a password is better given in SWISS_AUDIT_URL or PGPASSWORD',
  },
  {
    flag: 'prometheus-url',
    takes: 'URL',
    env: ['SWISS_PROMETHEUS_URL'],
    commands: SERVE,
    group: 'Gateway',
    help: 'Prometheus whose metrics autoscaling goes by, such as http://prometheus.monitoring.svc:9090',
    fallback: 'none: nothing is scaled; a password is better given in SWISS_PROMETHEUS_URL',
  },
  {
    flag: 'log-level',
    takes: 'LEVEL',
    env: ['SWISS_LOG_LEVEL'],
    commands: BOTH,
    group: 'Gateway',
    help: `${LOG_LEVELS.join(', ')}; on stderr`,
    fallback: 'info, in the sandbox warn',
  },
  {
    flag: 'canary-owner-kind',
    takes: 'KIND',
    env: ['SWISS_CANARY_OWNER_KIND'],
    commands: BOTH,
    group: 'Canary',
    help: 'kind of the owner reference by which a canary owns an LLMService',
    fallback: 'LLMCanary',
  },
  {
    flag: 'canary-label',
    takes: 'KEY',
    env: ['SWISS_CANARY_LABEL'],
    commands: BOTH,
    group: 'Canary',
    help: 'label that names the canary which owns an LLMService',
    fallback: 'serving.modelsphere.dev/canary',
  },
  {
    flag: 'canary-namespace-label',
    takes: 'KEY',
    env: ['SWISS_CANARY_NAMESPACE_LABEL'],
    commands: BOTH,
    group: 'Canary',
    help: 'label with the namespace of that canary',
    fallback: 'serving.modelsphere.dev/canary-namespace',
  },
  {
    flag: 'canary-role-label',
    takes: 'KEY',
    env: ['SWISS_CANARY_ROLE_LABEL'],
    commands: BOTH,
    group: 'Canary',
    help: 'label with the role of an LLMService in its canary',
    fallback: 'serving.modelsphere.dev/canary-role',
  },
  {
    flag: 'canary-assignment-annotation',
    takes: 'KEY',
    env: ['SWISS_CANARY_ASSIGNMENT_ANNOTATION'],
    commands: BOTH,
    group: 'Canary',
    help: 'annotation that assigns an LLMService to a canary',
    fallback: 'serving.modelsphere.dev/canary-assignment',
  },
  {
    flag: 'no-gateway',
    env: ['SWISS_NO_GATEWAY'],
    commands: SANDBOX,
    group: 'Sandbox',
    help: 'run the cluster alone, for gateways started with serve',
  },
  {
    flag: 'releases',
    takes: 'N',
    env: ['SWISS_RELEASES'],
    commands: SANDBOX,
    group: 'Sandbox',
    help: 'make N more releases, for a big cluster',
    fallback: '0',
  },
  {
    flag: 'dir',
    takes: 'PATH',
    env: ['SWISS_DIR'],
    commands: SANDBOX,
    group: 'Sandbox',
    help: 'folder for the kubeconfig, helm and the runs',
    fallback: 'a new temporary one',
  },
]
