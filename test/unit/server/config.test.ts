import { describe, expect, it } from 'vitest'
import { readConfig } from '../../../server/config.ts'
import { OPTIONS } from '../../../server/options.ts'
import { DEFAULT_CANARY_KEYS } from '../../../services/canary/relationship.ts'

const read = (args: string, env: Record<string, string> = {}) =>
  readConfig(
    args.split(' ').filter((part) => part !== ''),
    env,
  )

function config(args: string, env?: Record<string, string>) {
  const result = read(args, env)
  if ('config' in result) return result.config
  throw new Error(JSON.stringify(result))
}

describe('the defaults', () => {
  it('listen at loopback and look at everything', () => {
    expect(config('serve')).toEqual({
      command: 'serve',
      kubeconfig: undefined,
      context: undefined,
      namespaces: [],
      gatewayNamespace: undefined,
      clusterName: undefined,
      helmBin: 'helm',
      readOnly: false,
      host: '127.0.0.1',
      port: 4000,
      allowedHosts: [],
      allowedOrigins: [],
      auditDb: undefined,
      canaryKeys: DEFAULT_CANARY_KEYS,
      prometheusUrl: null,
      logLevel: 'info',
      noGateway: false,
      releases: 0,
      dir: undefined,
    })
    expect(config('sandbox').logLevel).toBe('warn')
  })
})

describe('flags and variables', () => {
  it('name everything', () => {
    const flags =
      'serve --kubeconfig k --context c --namespace a --namespace b,c --gateway-namespace g --cluster-name n ' +
      '--helm-bin h --read-only --host ::1 --port 0 --allowed-host swiss.example.com:8443 ' +
      '--allowed-origin https://console.example.com --audit-db db --log-level debug'
    const variables = {
      SWISS_KUBECONFIG: 'k',
      SWISS_CONTEXT: 'c',
      SWISS_NAMESPACE: 'a, b,c,',
      SWISS_GATEWAY_NAMESPACE: 'g',
      SWISS_CLUSTER_NAME: 'n',
      SWISS_HELM_BIN: 'h',
      SWISS_READ_ONLY: 'true',
      SWISS_HOST: '::1',
      SWISS_PORT: '0',
      SWISS_ALLOWED_HOST: 'swiss.example.com:8443',
      SWISS_ALLOWED_ORIGIN: 'https://console.example.com',
      SWISS_AUDIT_DB: 'db',
      SWISS_LOG_LEVEL: 'debug',
    }
    expect(config(flags)).toEqual(config('serve', variables))
    expect(config(flags)).toMatchObject({ namespaces: ['a', 'b', 'c'], port: 0, readOnly: true, host: '::1' })
  })

  it('name the keys of a canary one by one; the others stay', () => {
    const flags = 'serve --canary-owner-kind Rollout --canary-label example.com/canary'
    const variables = { SWISS_CANARY_OWNER_KIND: 'Rollout', SWISS_CANARY_LABEL: 'example.com/canary' }
    expect(config(flags)).toEqual(config('serve', variables))
    expect(config(flags).canaryKeys).toEqual({
      ...DEFAULT_CANARY_KEYS,
      ownerKind: 'Rollout',
      canaryLabel: 'example.com/canary',
    })
    expect(read('serve --canary-role-label Exa_mple/role')).toEqual({
      wrong:
        '--canary-role-label must be the key of a label or annotation, such as example.com/canary, not "Exa_mple/role".',
    })
  })

  it('know those of the sandbox', () => {
    const variables = { SWISS_NO_GATEWAY: '1', SWISS_RELEASES: '5000', SWISS_DIR: 'd' }
    expect(config('sandbox --no-gateway --releases 5000 --dir d')).toEqual(config('sandbox', variables))
    expect(config('sandbox', variables)).toMatchObject({ noGateway: true, releases: 5000, dir: 'd' })
  })

  it('the flag wins, and the last of several', () => {
    expect(config('serve --port 1 --port=2', { SWISS_PORT: '3' }).port).toBe(2)
    expect(config('serve --namespace a', { SWISS_NAMESPACE: 'b' }).namespaces).toEqual(['a'])
    expect(config('serve --read-only=false', { SWISS_READ_ONLY: 'true' }).readOnly).toBe(false)
  })

  it('the name of our own wins over a common one', () => {
    expect(config('serve', { HELM_BIN: 'x' }).helmBin).toBe('x')
    expect(config('serve', { HELM_BIN: 'x', SWISS_HELM_BIN: 'y' }).helmBin).toBe('y')
    expect(config('serve', { POD_NAMESPACE: 'x' }).gatewayNamespace).toBe('x')
  })

  it('an empty variable is none', () => {
    expect(config('serve', { SWISS_PORT: '', SWISS_HELM_BIN: '', HELM_BIN: 'x' })).toMatchObject({
      port: 4000,
      helmBin: 'x',
    })
  })

  it('a value may begin with a dash when it is written with =', () => {
    expect(config('serve --context=-x').context).toBe('-x')
  })

  it('the sandbox knows nothing of the cluster that the environment speaks of', () => {
    const env = {
      KUBECONFIG: 'k',
      SWISS_KUBECONFIG: 'k',
      SWISS_CONTEXT: 'c',
      HELM_BIN: 'h',
      SWISS_AUDIT_DB: 'd',
    }
    expect(config('sandbox', env)).toEqual(config('sandbox'))
  })

  it.each(['127.0.0.1', '127.8.9.10', 'localhost', '::1'])('the host may be %s', (host) => {
    expect(config(`serve --host ${host}`).host).toBe(host)
  })
})

describe('what is wrong is said in one sentence that helps', () => {
  it.each([
    ['', 'Say what to run: swiss-gateway sandbox, or swiss-gateway serve; see --help.'],
    ['serv', 'There is no command "serv" (did you mean serve?); see --help.'],
    ['start', 'There is no command "start"; see --help.'],
    ['serve now', '"now" does not belong there: serve takes flags only; see --help.'],
    ['serve --prot 1', 'There is no flag --prot (did you mean --port?); see serve --help.'],
    ['serve --frobnicate', 'There is no flag --frobnicate; see serve --help.'],
    ['serve -p 1', 'There is no flag -p; see serve --help.'],
    ['serve --releases 5', '--releases is a flag of sandbox, not of serve; leave it out.'],
    ['sandbox --kubeconfig k', '--kubeconfig is a flag of serve, not of sandbox; leave it out.'],
    ['serve --port', '--port needs a value: --port PORT.'],
    ['serve --port --read-only', '--port needs a value: --port PORT.'],
    ['serve --port=', '--port needs a value: --port PORT.'],
    ['serve --port x', '--port must be a whole number from 0 to 65535, not "x".'],
    ['serve --port 65536', '--port must be a whole number from 0 to 65535, not "65536".'],
    ['serve --port=-1', '--port must be a whole number from 0 to 65535, not "-1".'],
    ['serve --port 1.5', '--port must be a whole number from 0 to 65535, not "1.5".'],
    ['sandbox --releases many', '--releases must be a whole number from 0 to 100000, not "many".'],
    ['serve --namespace a --namespace B_', '--namespace must be the name of a namespace, not "B_".'],
    [
      `serve --namespace ${'a'.repeat(64)}`,
      `--namespace must be the name of a namespace, not "${'a'.repeat(64)}".`,
    ],
    ['serve --read-only=perhaps', '--read-only must be true or false, not "perhaps".'],
    ['serve --log-level loud', '--log-level must be one of debug, info, warn, error, silent, not "loud".'],
    [
      'serve --allowed-origin console.example.com',
      '--allowed-origin must be an origin such as https://console.example.com, not "console.example.com".',
    ],
    [
      'serve --allowed-host https://swiss.example.com',
      '--allowed-host must be a host, with its port if it has one, and nothing else, not "https://swiss.example.com".',
    ],
  ])('%s', (args, wrong) => {
    expect(read(args)).toEqual({ wrong })
  })

  it.each(['0.0.0.0', '::', '10.0.0.1', 'swiss.example.com', '127.0.0.1.evil.example', '0177.0.0.1', ''])(
    'no host but loopback while there is no authentication: %s',
    (host) => {
      expect(read(`serve --host=${host}`)).toEqual({
        wrong: host
          ? `--host must be a loopback address while there is no authentication (127.0.0.1, ::1 or localhost), not "${host}".`
          : '--host needs a value: --host ADDRESS.',
      })
    },
  )

  it('a variable is called by its own name', () => {
    expect(read('serve', { SWISS_PORT: 'x' })).toEqual({
      wrong: 'SWISS_PORT must be a whole number from 0 to 65535, not "x".',
    })
    expect(read('serve', { SWISS_NAMESPACE: 'a,B' })).toEqual({
      wrong: 'SWISS_NAMESPACE must be the name of a namespace, not "B".',
    })
  })
})

describe('help', () => {
  const help = (args: string) => {
    const result = read(args)
    return 'help' in result ? result.help : ''
  }

  it('shows every flag with its variables and its default', () => {
    for (const { flag, env, fallback } of OPTIONS) {
      expect(help('--help')).toContain(`--${flag}`)
      for (const name of [...env, ...(fallback ? [`default: ${fallback}`] : [])])
        expect(help('--help')).toContain(name)
    }
  })

  it('of one command shows only its flags', () => {
    expect(help('sandbox --help')).toContain('--releases')
    expect(help('sandbox --help')).not.toContain('--kubeconfig')
    expect(help('serve -h')).toContain('--kubeconfig')
    expect(help('serve -h')).not.toContain('--releases')
  })

  it('comes before any complaint', () => {
    expect(help('serve --nonsense --help')).toContain('--port')
    expect(read('--version')).toEqual({ version: true })
  })
})
