/** The Prometheus client against answers that a server of this test gives. A real one is in prometheus.test.ts. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Metrics, readAnswer } from '../../../services/autoscale/metrics.ts'
import { queryFor } from '../../../services/autoscale/query.ts'
import { FakeClock } from '../support/fakeClock.ts'

const NOW = Date.parse('2031-01-01T00:00:00Z')
const ref = { namespace: 'team-a', name: 'chat' }

async function serve(answer: (request: IncomingMessage, response: ServerResponse, body: string) => void) {
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => answer(request, response, body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function metricsOf(url: string | null) {
  const clock = new FakeClock(NOW)
  const metrics = new Metrics({ url, clock })
  onTestFinished(() => metrics.close())
  return { clock, metrics }
}

const vector = (...values: [number, string][]) => {
  const result = values.map((value) => ({ metric: {}, value }))
  return JSON.stringify({ status: 'success', data: { resultType: 'vector', result } })
}
const success = (resultType: string, result: unknown) =>
  JSON.stringify({ status: 'success', data: { resultType, result } })

describe('queries', () => {
  test.each([
    ['up{namespace=$namespace,release=$release}', 'up{namespace="team-a",release="chat"}'],
    ['up{namespace="$namespace",pod=~"$release-.*"}', 'up{namespace="team-a",pod=~"chat-.*"}'],
    ["up{pod=~'$release-.*'}", "up{pod=~'chat-.*'}"],
    ['up{a="\\"$release"}', 'up{a="\\"chat"}'],
    ['up{a=`\\`,b=$release}', 'up{a=`\\`,b="chat"}'],
    ['$releases + $release_x + $other', '$releases + $release_x + $other'],
  ])('%s', (query, sent) => expect(queryFor(query, ref)).toBe(sent))

  test('a value can never end its text, whatever it holds', () => {
    const evil = { namespace: 'a"} or vector(1) #', name: "b'`\\\n" }
    expect(queryFor('up{namespace=$namespace}', evil)).toBe('up{namespace="a\\"} or vector(1) #"}')
    expect(queryFor('up{namespace="$namespace"}', evil)).toBe('up{namespace="a\\"} or vector(1) #"}')
    expect(queryFor("up{a='$release'}", evil)).toBe("up{a='b\\'`\\\\\\n'}")
    expect(queryFor('up{a=`$release`}', evil)).toBe("up{a=`b'\\\n`}")
  })
})

describe('answers', () => {
  const seconds = NOW / 1000
  const missing = (reason: string) => ({ missing: expect.stringContaining(reason) })

  test.each([
    ['one sample', 200, vector([seconds, '3.5']), { value: 3.5 }],
    ['a scalar', 200, success('scalar', [seconds, '2']), { value: 2 }],
    ['a sample of 60 s ago', 200, vector([seconds - 60, '1']), { value: 1 }],
    ['an older one', 200, vector([seconds - 61, '1']), missing('61 s old')],
    ['none', 200, vector(), missing('no sample of the last 60 s')],
    ['several', 200, vector([seconds, '1'], [seconds, '1']), missing('2 samples')],
    ['NaN', 200, vector([seconds, 'NaN']), missing('NaN')],
    ['infinity', 200, vector([seconds, '+Inf']), missing('+Inf')],
    ['an empty text', 200, vector([seconds, '']), missing('the sample is ')],
    ['a histogram', 200, success('vector', [{ histogram: [1, {}] }]), missing('no number')],
    ['a matrix', 200, success('matrix', []), missing('neither a vector')],
    ['an error', 400, '{"status":"error","error":"parse error: x"}', missing('400: parse error: x')],
    ['null', 200, 'null', missing('answered 200')],
    ['a list', 200, '[]', missing('answered 200')],
    ['no data', 200, '{"status":"success"}', missing('neither a vector')],
    ['HTML', 502, '<html>', missing('502, and no JSON')],
  ])('%s', (_name, status, text, expected) => expect(readAnswer(status, text, NOW)).toEqual(expected))
})

describe('the server', () => {
  test('is asked below its path, with the credentials of the URL and a short look back', async () => {
    const seen: (string | undefined)[] = []
    const url = await serve((request, response) => {
      seen.push(request.method, request.url, request.headers.authorization)
      response.end(vector([NOW / 1000, '1']))
    })
    const { metrics } = metricsOf(`${url.replace('//', '//us%40er:pa%2Fss@')}/prom/`)
    expect(await metrics.query('up{a="b c"}')).toEqual({ value: 1 })
    const [method, path, authorization] = seen
    expect(method).toBe('GET')
    const asked = new URL(path ?? '', url)
    expect(asked.pathname).toBe('/prom/api/v1/query')
    expect(Object.fromEntries(asked.searchParams)).toEqual({ query: 'up{a="b c"}', lookback_delta: '60s' })
    const [, credentials = ''] = (authorization ?? '').split(' ')
    expect(Buffer.from(credentials, 'base64').toString()).toBe('us@er:pa/ss')
  })

  test('gets a long query in the body', async () => {
    const query = `up{a="${'x'.repeat(5000)}"}`
    const url = await serve((request, response, body) => {
      const isRight = request.method === 'POST' && new URLSearchParams(body).get('query') === query
      response.end(vector([NOW / 1000, isRight ? '1' : '0']))
    })
    expect(await metricsOf(url).metrics.query(query)).toEqual({ value: 1 })
  })

  test.each([
    ['never answers', () => undefined],
    ['stops within its answer', (response: ServerResponse) => response.write('{"status":')],
  ])('that %s has no metric after five seconds', async (_name, begin) => {
    let arrived = () => {}
    const asked = new Promise<void>((resolve) => {
      arrived = resolve
    })
    const url = await serve((_request, response) => {
      begin(response)
      arrived()
    })
    const { clock, metrics } = metricsOf(url)
    const answer = metrics.query('up')
    await asked
    await clock.advance(5000, async () => undefined)
    expect(await answer).toEqual({ missing: 'Prometheus has not answered in time' })
  })

  test('that says too much, is not there, or is asked when all is over', async () => {
    const { metrics } = metricsOf(
      await serve((_request, response) => response.end('x'.repeat(1024 * 1024 + 1))),
    )
    expect(await metrics.query('up')).toEqual({ missing: expect.stringContaining('more samples') })
    expect(await metrics.query('up', AbortSignal.abort())).toEqual({ missing: expect.any(String) })
    // Nothing listens at port 1.
    const nowhere = await metricsOf('http://user:secret@127.0.0.1:1').metrics.query('up')
    expect(nowhere).toEqual({ missing: 'Prometheus cannot be reached (ECONNREFUSED)' })
    const none = await metricsOf(null).metrics.query('up')
    expect(none).toEqual({ missing: expect.stringContaining('--prometheus-url') })
  })
})
