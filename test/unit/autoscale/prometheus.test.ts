/** The metrics client against a real Prometheus, which scrapes an exporter of this test. In CI it cannot be skipped. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../../server/clock.ts'
import { Metrics } from '../../../services/autoscale/metrics.ts'
import { queryFor } from '../../../services/autoscale/query.ts'
import { freePort } from '../support/postgres.ts'

const installed = spawnSync('prometheus', ['--version']).status === 0
const ref = { namespace: 'team-a', name: 'chat' }

describe.runIf(installed || process.env.CI === 'true')('a real Prometheus', () => {
  const folder = mkdtempSync(join(tmpdir(), 'swiss-prometheus-'))
  /** What the exporter says: queued requests of each replica. */
  let load: Record<string, number> = { 'chat-0': 10, 'chat-1': 20 }
  let exporter: Server
  let prometheus: ChildProcess
  let metrics: Metrics

  const ask = (query: string) => metrics.query(queryFor(query, ref))
  const average = 'avg(queued_requests{namespace=$namespace,release=$release})'

  /** Scrapes come once a second; what is waited for is what Prometheus says, not time. */
  async function until(query: string, value: number): Promise<void> {
    for (let look = 0; look < 300; look++) {
      const metric = await ask(query)
      if ('value' in metric && metric.value === value) return
      await setTimeout(100)
    }
    expect(await ask(query)).toEqual({ value })
  }

  beforeAll(async () => {
    exporter = createServer((_request, response) => {
      response.setHeader('content-type', 'text/plain; version=0.0.4')
      const lines = Object.entries(load).map(
        ([pod, value]) => `queued_requests{namespace="team-a",release="chat",pod="${pod}"} ${value}\n`,
      )
      response.end(
        `${lines.join('')}queued_requests{namespace="team-b",release="chat",pod="x"} 99\nempty 0\n`,
      )
    })
    await new Promise<void>((resolve) => exporter.listen(0, '127.0.0.1', resolve))
    const target = `127.0.0.1:${(exporter.address() as AddressInfo).port}`
    const config = {
      global: { scrape_interval: '1s' },
      scrape_configs: [{ job_name: 'engines', static_configs: [{ targets: [target] }] }],
    }
    writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(config))
    const port = await freePort()
    prometheus = spawn(
      'prometheus',
      [
        `--config.file=${join(folder, 'prometheus.yml')}`,
        `--storage.tsdb.path=${join(folder, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ],
      { stdio: 'ignore' },
    )
    prometheus.on('error', () => undefined)
    metrics = new Metrics({ url: `http://127.0.0.1:${port}`, clock: systemClock })
    await until(average, 15)
  }, 60_000)

  afterAll(async () => {
    await metrics?.close()
    if (prometheus?.pid !== undefined && prometheus.exitCode === null) {
      const ended = new Promise((resolve) => prometheus.once('exit', resolve))
      prometheus.kill('SIGKILL')
      await ended
    }
    exporter?.closeAllConnections()
    exporter?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  test('has the sample of a query of this release, and follows the load', async () => {
    load = { 'chat-0': 40, 'chat-1': 80 }
    await until(average, 60)
  }, 60_000)

  test('has a scalar, and the name within a text', async () => {
    expect(await ask('scalar(count(queued_requests{pod=~"$release-.*"}))')).toEqual({ value: 2 })
  })

  test('has no metric where there are several samples, none, or none that is a number', async () => {
    expect(await ask('queued_requests')).toEqual({ missing: expect.stringContaining('3 samples') })
    expect(await ask('absent_metric')).toEqual({ missing: expect.stringContaining('no sample') })
    expect(await ask('max(empty) / max(empty)')).toEqual({ missing: expect.stringContaining('NaN') })
  })

  test('says what is wrong with a query, and what is said cannot be more than one query', async () => {
    const broken = await ask('sum(')
    expect(broken).toEqual({ missing: expect.stringMatching(/^Prometheus has answered 400: .*parse error/s) })
    const evil = { namespace: 'team-a"} or queued_requests{namespace="team-b', name: 'chat' }
    const asked = await metrics.query(queryFor(average, evil))
    expect(asked).toEqual({ missing: expect.stringContaining('no sample') })
  })
})
