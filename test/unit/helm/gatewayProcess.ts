/** A process that runs helm as the gateway does and is there to be killed: see `runner.test.ts`. */
import { HelmRunner } from '../../../services/helm/runner.ts'

const nothing = () => {}
const { UPGRADE_IN } = process.env
const runner = new HelmRunner({
  helmBin: process.env.HELM ?? '',
  supervisorPath: process.env.SUPERVISOR ?? '',
  env: process.env,
  clock: { now: () => Date.now(), setTimer: () => nothing },
  logger: { debug: nothing, info: nothing, warn: nothing, error: nothing },
  ...(UPGRADE_IN === undefined ? {} : { tempDir: UPGRADE_IN }),
})
const chat = { namespace: 'team-a', name: 'chat' }
const options = { lease: null, signal: new AbortController().signal }
if (UPGRADE_IN === undefined) await runner.uninstall(chat, options)
else {
  const chart = { chart: 'vllm', version: null, repo: null }
  const layers = [{ name: 'form', text: 'replicas: 1\n' }]
  await runner.upgrade(chat, { chart, layers, forceConflicts: false }, options)
}
