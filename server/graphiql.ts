import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { READY_TABS } from './graphiqlTabs.ts'

interface Page {
  gzipped: Buffer
  etag: string
  policy: string
}

/**
 * GraphiQL, whole in one page that makes no outside request. It is 9 MB, so it is rendered and compressed
 * once, by the first browser that asks, and kept compressed.
 */
export class GraphiqlPage {
  #page: Promise<Page> | null = null

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#page ??= render()
    const { gzipped, etag, policy } = await this.#page
    if (response.destroyed) return
    const headers = {
      etag,
      'cache-control': 'no-cache',
      vary: 'accept, accept-encoding',
      'content-security-policy': policy,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    }
    if (request.headers['if-none-match'] === etag) {
      response.writeHead(304, headers).end()
      return
    }
    const compressed = /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''))
    const body = compressed ? gzipped : await promisify(gunzip)(gzipped)
    response.writeHead(200, {
      ...headers,
      'content-type': 'text/html; charset=utf-8',
      'content-length': body.length,
      ...(compressed ? { 'content-encoding': 'gzip' } : {}),
    })
    response.end(body)
  }
}

/**
 * GraphiQL's tabs can be dragged, and when it starts with several of them the first press on one lets it jump
 * aside under the pointer: the click is lost. They stay where they are.
 */
const STYLE = '.graphiql-tab { transform: none !important }'

async function render(): Promise<Page> {
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql')
  const rendered = renderGraphiQL({
    title: 'Swiss',
    defaultTabs: READY_TABS,
    // Subscriptions by WebSocket: a browser opens six HTTP connections to a host, and SSE would hold one each.
    subscriptionsProtocol: 'WS',
  })
  const html = rendered.replace('</head>', `<style>${STYLE}</style></head>`)
  const gzipped = await promisify(gzip)(html)
  const etag = `"${createHash('sha256').update(gzipped).digest('base64url').slice(0, 32)}"`
  return { gzipped, etag, policy: policyFor(html) }
}

/**
 * Only the page's own script runs (by its hash), nothing is loaded from or sent anywhere else, and no other
 * page can frame it: a click somebody else arranged must not uninstall anything.
 */
function policyFor(html: string): string {
  const scripts = [...html.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(([, text = '']) => {
    // A browser hashes the text as it parsed it, with plain newlines.
    const parsed = text.replaceAll(/\r\n?/g, '\n')
    return `'sha256-${createHash('sha256').update(parsed).digest('base64')}'`
  })
  return [
    "default-src 'none'",
    `script-src ${scripts.join(' ')} blob:`,
    'worker-src blob:',
    "style-src 'unsafe-inline'",
    'font-src data:',
    'img-src data:',
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}
