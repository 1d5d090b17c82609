import { onTestFinished } from 'vitest'
import { startApiServer } from '../../../../sandbox/api/server.ts'
import { KubeClient } from '../../../../services/cluster/client.ts'
import { FakeClock } from '../../support/fakeClock.ts'
import { listLogger, plainConnection } from './harness.ts'
import { turn } from './until.ts'

/** The sandbox API server with a still clock, and clients of it; all gone when the test is over. */
export async function startSandbox() {
  const clock = new FakeClock()
  const server = await startApiServer({
    clock,
    tokens: { 'token-1': { user: 'gateway', groups: ['system:masters'] } },
  })
  onTestFinished(() => server.stop())
  const { logger, lines } = listLogger()
  const clients: KubeClient[] = []
  const makeClient = () => {
    const client = new KubeClient({
      connection: plainConnection(server.url),
      clock,
      logger,
      userAgent: 'test',
    })
    clients.push(client)
    return client
  }
  /** Until no call is in flight and every stream's last event has been applied, for a few turns in a row. */
  const settle = async () => {
    for (let quiet = 0; quiet < 6; quiet++) {
      await turn()
      if (server.inFlight > 0 || clients.some((client) => client.inFlight > 0)) quiet = 0
    }
  }
  return { clock, server, logger, lines, makeClient, settle }
}
