/** A process that runs helm as the gateway does and is there to be killed: see `runner.test.ts`. */
import { HelmRunner } from '../../../services/helm/runner.ts'

const nothing = () => {}
const runner = new HelmRunner({
  helmBin: process.env.HELM ?? '',
  supervisorPath: process.env.SUPERVISOR ?? '',
  env: process.env,
  clock: { now: () => Date.now(), setTimer: () => nothing },
  logger: { debug: nothing, info: nothing, warn: nothing, error: nothing },
})
await runner.uninstall(
  { namespace: 'team-a', name: 'chat' },
  { lease: null, signal: new AbortController().signal },
)
