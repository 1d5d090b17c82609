import { existsSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { schema } from '../../resolvers/index.ts'
import { startGateway } from '../../server/gateway.ts'
import { makeHelm, SUPERVISOR_PATH } from '../../server/helm.ts'
import { memoryAudit } from '../../services/audit/memoryAudit.ts'
import type { Actor } from '../../services/auth/actor.ts'
import { DEFAULT_CANARY_KEYS } from '../../services/canary/relationship.ts'
import { loadConnection } from '../../services/cluster/connection.ts'
import type { Logger } from '../../services/runtime/logger.ts'
import type { GatewayHouse } from './gateway.ts'
import { gatewayNamespace } from './given.ts'
import { requestHeader } from './http.ts'

/** The whole gateway, as `server/` puts it together. */
export function makeRealHouse(): GatewayHouse {
  if (!existsSync(SUPERVISOR_PATH))
    throw new Error(`${SUPERVISOR_PATH} is not there: run \`npm run build\` first`)
  const audit = memoryAudit()
  return {
    schema,
    flush: () => audit.flush(),
    start: ({ config, kubeconfig, helmBin, prometheusUrl, onRequest, ...given }) => {
      const connection = loadConnection({ kubeconfig })
      return startGateway({
        ...given,
        audit,
        logger,
        connection,
        helm: makeHelm(connection, helmBin, { PATH: process.env.PATH }, logger, given.clock),
        tickers: false,
        config: {
          host: '127.0.0.1',
          port: 0,
          allowedHosts: [],
          allowedOrigins: [],
          namespaces: config.namespaces ?? [],
          gatewayNamespace,
          clusterName: null,
          readOnly: config.readOnly ?? false,
          canaryKeys: config.canaryKeys ?? DEFAULT_CANARY_KEYS,
          prometheusUrl,
        },
        authenticate: (headers) => {
          onRequest(String(headers[requestHeader] ?? ''))
          return callerOf(headers)
        },
      })
    },
  }
}

function callerOf(headers: IncomingHttpHeaders): Actor {
  const groups = String(headers['x-test-groups'] ?? '')
  return {
    name: String(headers['x-test-user'] ?? 'nobody'),
    groups: groups === '' ? [] : groups.split(','),
  }
}

/** CASES_LOG=1 shows what the gateways log; a case is judged by what it sees. */
const logger: Logger = process.env.CASES_LOG ? spoken() : { debug() {}, info() {}, warn() {}, error() {} }

function spoken(): Logger {
  const say = (level: string) => (fields: object, message: string) => {
    const { err, ...rest } = fields as { err?: unknown }
    console.error(level, message, JSON.stringify(rest), err ?? '')
  }
  return { debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error') }
}
