import { existsSync } from 'node:fs'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'

/** Debian's; CHROMIUM names another one. */
const PATH = process.env.CHROMIUM ?? '/usr/bin/chromium'

/** Without a browser these tests are skipped on a person's machine, and fail in CI. */
export const noBrowser = !existsSync(PATH) && process.env.CI !== 'true'

const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  // No name leads anywhere: what is not on this machine cannot be reached.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
]

/** A real Chromium, without a window. */
export const startBrowser = (): Promise<Browser> => chromium.launch({ executablePath: PATH, args: ARGS })

/** What a context has done that it should not have: requests to elsewhere, errors on the console. */
export interface Watched {
  context: BrowserContext
  elsewhere: string[]
  errors: string[]
}

/** A fresh profile that can reach nothing but `origin`. What it tries elsewhere is blocked, and counted. */
export async function contextFor(browser: Browser, origin: string): Promise<Watched> {
  const context = await browser.newContext({ viewport: { width: 1400, height: 1600 } })
  const watched: Watched = { context, elsewhere: [], errors: [] }
  const local = (url: string) => {
    const { origin: its, protocol } = new URL(url)
    return its === origin || protocol === 'blob:' || protocol === 'data:'
  }
  await context.route(
    () => true,
    async (route) => {
      const url = route.request().url()
      if (local(url)) return route.continue()
      watched.elsewhere.push(url)
      return route.abort()
    },
  )
  context.on('page', (page) => {
    page.on('pageerror', (error) => watched.errors.push(error.message))
    page.on('console', (message) => {
      if (message.type() === 'error') watched.errors.push(message.text())
    })
    page.on('websocket', (socket) => {
      if (!local(socket.url().replace(/^ws/, 'http'))) watched.elsewhere.push(socket.url())
    })
  })
  return watched
}

/** GraphiQL in one window, used as a person does: by its tabs and its run button. */
export class GraphiqlWindow {
  readonly page: Page

  private constructor(page: Page) {
    this.page = page
  }

  static async open(context: BrowserContext, url: string): Promise<GraphiqlWindow> {
    const page = await context.newPage()
    await page.goto(url)
    await page.getByRole('button', { name: 'Execute query (Ctrl-Enter)' }).waitFor()
    return new GraphiqlWindow(page)
  }

  /** The names of the tabs. */
  tabs(): Promise<string[]> {
    return this.page.locator('.graphiql-tab-button').allTextContents()
  }

  async choose(tab: string): Promise<void> {
    await this.page.locator('.graphiql-tab-button', { hasText: tab }).click()
    await this.page.locator('.graphiql-tab-active', { hasText: tab }).waitFor()
  }

  async run(): Promise<void> {
    await this.page.getByRole('button', { name: 'Execute query (Ctrl-Enter)' }).click()
  }

  /** Waits until all of these are to be read in the result, and answers what is to be read there then. */
  async shows(...texts: string[]): Promise<string> {
    const handle = await this.page.waitForFunction(
      (wanted) => {
        // Monaco writes blanks that do not break.
        const lines = [...document.querySelectorAll<HTMLElement>('.result-window .view-line')]
        const text = lines
          .sort((a, b) => Number.parseInt(a.style.top, 10) - Number.parseInt(b.style.top, 10))
          .map((line) => (line.textContent ?? '').replaceAll('\u00a0', ' '))
          .join('\n')
        return wanted.every((one) => text.includes(one)) && text
      },
      texts,
      { polling: 100 },
    )
    return String(await handle.jsonValue())
  }
}
