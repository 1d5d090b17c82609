/** What a person sees: GraphiQL in a real browser, with no network, used by its ready tabs and its run button. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { contextFor, GraphiqlWindow, noBrowser, startBrowser, type Watched } from './support/browser.ts'
import { type Gateway, startSandbox } from './support/gateway.ts'
import { Processes } from './support/processes.ts'
import { until } from './support/until.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

describe.skipIf(noBrowser)('a real browser', () => {
  const processes = new Processes()
  let gateway: Gateway
  let browser: Browser
  let watched: Watched
  let window: GraphiqlWindow
  let other: GraphiqlWindow
  /** Messages that the stream of the first window has received. */
  const messages: string[] = []

  beforeAll(async () => {
    ;[gateway, browser] = await Promise.all([startSandbox(processes), startBrowser()])
    await gateway.ready()
    watched = await contextFor(browser, new URL(gateway.url).origin)
  })

  afterAll(async () => {
    await browser?.close()
    await processes.stop()
  })

  it('shows GraphiQL with three ready tabs', async () => {
    window = await GraphiqlWindow.open(watched.context, gateway.url)
    expect(await window.page.title()).toBe('Swiss')
    const tabs = await window.tabs()
    expect(tabs).toHaveLength(3)
    expect(tabs.map((tab) => /^[A-Za-z]+/.exec(tab)?.[0])).toEqual([
      'Deployments',
      'PhaseChanges',
      'UninstallChat',
    ])
  })

  it('lists the releases at the press of a button', async () => {
    await window.run()
    const text = await window.shows('"totalCount": 10', '"name": "chat"', '"name": "docs-search"')
    expect(text).toContain('"phase": "APPLIED"')
    expect(text).not.toContain('"errors"')
  })

  it('streams in the second tab, beginning with a snapshot', async () => {
    window.page.on('websocket', (socket) => {
      socket.on('framereceived', ({ payload }) => messages.push(String(payload)))
    })
    await window.choose('PhaseChanges')
    await window.run()
    await window.shows('"kind": "SNAPSHOT_COMPLETE"')
    expect(messages.filter((message) => message.includes('"SNAPSHOT"'))).toHaveLength(10)
  })

  it('uninstalls in the third tab of another window, and the stream moves', async () => {
    other = await GraphiqlWindow.open(watched.context, gateway.url)
    await other.choose('UninstallChat')
    await other.run()
    const [answer] = await Promise.all([
      other.shows('"__typename": "UninstallReleasePayload"'),
      window.shows('"name": "chat"', '"previousPhase": "APPLIED"', '"phase": "UNINSTALLING"'),
    ])
    expect(answer).toContain('"alreadyInProgress": false')
    expect(answer).toContain('"phase": "UNINSTALLING"')
  })

  it('keeps the release in the list meanwhile, with the pods that hold it back', async () => {
    await other.choose('Deployments')
    const text = await until('the list names a pod', async () => {
      await other.run()
      const shown = await other.shows('"totalCount": 10', '"name": "chat"')
      return /pod chat-\S+ is terminating within/.test(shown.replaceAll(/\s+/g, ' ')) && shown
    })
    const chat = text.slice(text.indexOf('"name": "chat"'), text.indexOf('"name": "docs-search"'))
    expect(chat).toContain('"phase": "UNINSTALLING"')
    expect(chat).toContain('"kind": "POD"')
    expect(chat).toContain('"stage": "PODS_TERMINATING"')
  })

  it('sees it GONE, and the list without it', async () => {
    await window.shows('"name": "chat"', '"phase": "GONE"', '"goneBecause": "UNINSTALLED"')
    await other.run()
    const text = await other.shows('"totalCount": 9')
    expect(text).not.toContain('"name": "chat"')
    const changes = messages.filter((message) => message.includes('"CHANGED"'))
    expect(changes).toHaveLength(2)
  })

  it('has needed no network, and nothing has gone wrong on the page', () => {
    expect(watched.elsewhere).toEqual([])
    expect(watched.errors).toEqual([])
  })

  it('lets no page of another origin in', async () => {
    const stranger = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html').end('<h1>a page elsewhere</h1>')
    })
    await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve))
    const context = await browser.newContext()
    try {
      const page = await context.newPage()
      const statuses: number[] = []
      page.on('response', (response) => {
        if (response.url().startsWith(gateway.url)) statuses.push(response.status())
      })
      await page.goto(`http://127.0.0.1:${(stranger.address() as AddressInfo).port}/`)
      const tries = await page.evaluate(async (url) => {
        const body =
          '{"query":"mutation { uninstallRelease(input: {namespace: \\"team-a\\", name: \\"research\\"}) { __typename } }"}'
        const get = `${url}?query={deployments{nodes{name}}}`
        const outcome = async (work: Promise<unknown>) => work.then(String, (error) => String(error))
        const json = { 'content-type': 'application/json' }
        const simple = { method: 'POST', mode: 'no-cors' as const, body }
        return {
          read: await outcome(fetch(get)),
          readOpaque: (await fetch(get, { mode: 'no-cors' })).type,
          post: await outcome(fetch(url, { method: 'POST', headers: json, body })),
          postAsText: (await fetch(url, simple)).type,
          stream: await new Promise((resolve) => {
            const source = new EventSource(`${url}?query=subscription{deploymentPhaseChanged{kind}}`)
            source.onopen = () => resolve('open')
            source.onerror = () => resolve('refused')
          }),
          socket: await new Promise((resolve) => {
            const socket = new WebSocket(url.replace('http', 'ws'), 'graphql-transport-ws')
            socket.onopen = () => resolve('open')
            socket.onerror = () => resolve('refused')
          }),
        }
      }, gateway.url)
      expect(tries).toEqual({
        read: expect.stringContaining('TypeError'),
        readOpaque: 'opaque',
        post: expect.stringContaining('TypeError'),
        postAsText: 'opaque',
        stream: 'refused',
        socket: 'refused',
      })
      // The status of what was opaque for the page; the browser keeps the others even from us.
      expect(statuses.length).toBeGreaterThanOrEqual(2)
      expect(new Set(statuses)).toEqual(new Set([403]))
    } finally {
      await context.close()
      stranger.closeAllConnections()
      await new Promise((resolve) => stranger.close(resolve))
    }
    expect(await gateway.row('team-a', 'research', 'phase')).toMatchObject({ phase: 'APPLIED' })
  })
})
