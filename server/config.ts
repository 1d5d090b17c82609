import { isIP } from 'node:net'
import { z } from 'zod'
import { type CanaryKeys, DEFAULT_CANARY_KEYS } from '../services/canary/relationship.ts'
import { type Given, readArguments } from './arguments.ts'
import { helpText } from './help.ts'
import { LOG_LEVELS } from './logger.ts'

const LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/
const TRUE = ['true', '1', 'yes', 'on']
const FALSE = ['false', '0', 'no', 'off']

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))

const wholeNumber = (most: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `must be a whole number from 0 to ${most}`)
    .transform(Number)
    .refine((value) => value <= most, `must be a whole number from 0 to ${most}`)

const namespace = z.string().regex(LABEL, 'must be the name of a namespace')

const yesOrNo = z.union([
  z.boolean(),
  z
    .string()
    .toLowerCase()
    .refine((text) => [...TRUE, ...FALSE].includes(text), 'must be true or false')
    .transform((text) => TRUE.includes(text)),
])

/** A key of metadata: an optional DNS subdomain and a name of at most 63 characters. */
const metadataKey = z
  .string()
  .regex(
    /^(?=.{1,317}$)([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?$/,
    'must be the key of a label or annotation, such as example.com/canary',
  )

const origin = z.string().refine((text) => {
  const url = URL.canParse(text) ? new URL(text) : null
  return url !== null && ['http:', 'https:'].includes(url.protocol) && url.origin === text.toLowerCase()
}, 'must be an origin such as https://console.example.com')

const databaseUrl = z
  .string()
  .refine(isDatabaseUrl, 'must be the URL of a PostgreSQL database, such as postgres://user@host:5432/swiss')

const prometheusUrl = z.string().refine((text) => {
  const url = !/\s/.test(text) && URL.canParse(text) ? new URL(text) : null
  return url !== null && ['http:', 'https:'].includes(url.protocol) && url.search === '' && url.hash === ''
}, 'must be the URL of a Prometheus, such as http://prometheus.monitoring.svc:9090')

/** What may hold a password is never repeated. */
const SECRET_FLAGS = ['audit-url', 'prometheus-url']

/** Everything the command can be told. The messages go behind the name of the flag or the variable. */
const Config = z
  .object({
    command: z.enum(['sandbox', 'serve']),
    kubeconfig: z.string().optional(),
    context: z.string().optional(),
    namespace: z
      .array(namespace)
      .default([])
      .transform((names) => [...new Set(names)]),
    'gateway-namespace': namespace.optional(),
    'cluster-name': z.string().optional(),
    'helm-bin': z.string().default('helm'),
    'read-only': yesOrNo.default(false),
    host: z
      .string()
      .refine(
        isLoopback,
        'must be a loopback address while there is no authentication (127.0.0.1, ::1 or localhost)',
      )
      .default('127.0.0.1'),
    port: wholeNumber(65_535).default(4000),
    'allowed-host': z
      .array(z.string().regex(/^[^\s/]+$/, 'must be a host, with its port if it has one, and nothing else'))
      .default([]),
    'allowed-origin': z.array(origin).default([]),
    'audit-db': z.string().optional(),
    'audit-url': databaseUrl.optional(),
    'canary-owner-kind': z
      .string()
      .regex(/^[A-Z][A-Za-z0-9]{0,62}$/, 'must be a kind, such as LLMCanary')
      .default(DEFAULT_CANARY_KEYS.ownerKind),
    'canary-label': metadataKey.default(DEFAULT_CANARY_KEYS.canaryLabel),
    'canary-namespace-label': metadataKey.default(DEFAULT_CANARY_KEYS.namespaceLabel),
    'canary-role-label': metadataKey.default(DEFAULT_CANARY_KEYS.roleLabel),
    'canary-assignment-annotation': metadataKey.default(DEFAULT_CANARY_KEYS.assignmentAnnotation),
    'prometheus-url': prometheusUrl.optional(),
    'log-level': z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}`).optional(),
    'no-gateway': yesOrNo.default(false),
    releases: wholeNumber(100_000).default(0),
    dir: z.string().optional(),
  })
  .transform((raw) => ({
    command: raw.command,
    kubeconfig: raw.kubeconfig,
    context: raw.context,
    /** Empty: all of them. */
    namespaces: raw.namespace,
    /** Absent: the pod's, outside a cluster that of the context, else `default`. */
    gatewayNamespace: raw['gateway-namespace'],
    clusterName: raw['cluster-name'],
    helmBin: raw['helm-bin'],
    readOnly: raw['read-only'],
    host: raw.host,
    port: raw.port,
    allowedHosts: raw['allowed-host'],
    allowedOrigins: raw['allowed-origin'],
    auditDb: raw['audit-db'],
    /** Wins over `auditDb`. May hold a password: never printed. */
    auditUrl: raw['audit-url'],
    canaryKeys: {
      ownerKind: raw['canary-owner-kind'],
      canaryLabel: raw['canary-label'],
      namespaceLabel: raw['canary-namespace-label'],
      roleLabel: raw['canary-role-label'],
      assignmentAnnotation: raw['canary-assignment-annotation'],
    } satisfies CanaryKeys,
    /** May hold a password: never printed. */
    prometheusUrl: raw['prometheus-url'] ?? null,
    logLevel: raw['log-level'] ?? (raw.command === 'sandbox' ? ('warn' as const) : ('info' as const)),
    /** The sandbox cluster alone. */
    noGateway: raw['no-gateway'],
    releases: raw.releases,
    dir: raw.dir,
  }))

export type Config = z.infer<typeof Config>

export type ConfigResult =
  | { config: Config }
  /** Text to print; the command then ends with exit code 0. */
  | { help: string }
  | { version: true }
  /** One sentence that says what to do; the command ends with exit code 2. */
  | { wrong: string }

/** What the command line and the environment ask for. */
export function readConfig(args: readonly string[], env: NodeJS.ProcessEnv): ConfigResult {
  const read = readArguments(args, env)
  if ('wrong' in read || 'version' in read) return read
  if ('help' in read) return { help: helpText(read.help) }
  const values = [...read.given].map(([flag, { value }]) => [flag, value])
  const parsed = Config.safeParse({ command: read.command, ...Object.fromEntries(values) })
  if (parsed.success) return { config: parsed.data }
  return { wrong: sentence(parsed.error.issues[0], read.given) }
}

function sentence(issue: z.core.$ZodIssue | undefined, given: ReadonlyMap<string, Given>): string {
  const [flag = '', index] = issue?.path ?? []
  const { origin = `--${String(flag)}`, value } = given.get(String(flag)) ?? {}
  const one = Array.isArray(value) ? value[Number(index)] : value
  const message = issue?.code === 'invalid_union' ? 'must be true or false' : issue?.message
  if (SECRET_FLAGS.includes(String(flag)))
    return `${origin} ${message}; a / or @ in a password is written %2F or %40.`
  return `${origin} ${message}, not ${JSON.stringify(one)}.`
}

/** What the driver can take apart, too. */
function isDatabaseUrl(text: string): boolean {
  if (/\s/.test(text) || !URL.canParse(text)) return false
  const { protocol, username, password, pathname } = new URL(text)
  try {
    for (const part of [username, password, pathname]) decodeURIComponent(part)
  } catch {
    return false
  }
  return ['postgres:', 'postgresql:'].includes(protocol)
}
