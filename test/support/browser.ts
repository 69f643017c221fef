/** A real Chromium for tests of the dashboard: pages of any width and scheme, with or without a signed-in person. */

import { afterAll, afterEach, beforeAll, expect } from 'bun:test'
import axe from 'axe-core'
import { type Browser, type BrowserContext, chromium, errors, type Locator, type Page } from 'playwright-core'
import { loadAssets } from '@/boot/dashboard-assets/load'
import { assert } from '@/lib/assert'
import { createLogger } from '@/lib/logger'
import { CHROMIUM_ADVICE, findChromium } from './chromium'
import { PATIENCE_MS } from './until'

/**
 * As root, in containers, and without a GPU; pages of one context in one process, which has their code compiled already. A page lives
 * too briefly for V8's optimising compilers to pay.
 */
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-dev-shm-usage',
  '--disable-gpu',
  '--renderer-process-limit=1',
  '--js-flags=--no-maglev --no-opt',
]
const DESKTOP = { width: 1280, height: 900 }

/** Where the gateway is, and the `cookie` header of a signed-in person. */
type PageOptions = {
  url: string
  cookie?: string
  /** Pixels; 1280 unless said. 360 is the narrowest phone that has to work. */
  width?: number
  /** Pixels; 900 unless said. */
  height?: number
  colorScheme?: 'light' | 'dark'
}

export interface TestBrowser {
  /** A page that shares nothing with others that are open. It fails the test where it reports an error nobody handles. */
  open(path: string, options: PageOptions): Promise<Page>
  /**
   * Closes all pages, which would go on asking their gateway, and forgets what they kept, but for the files of the dashboard: to load
   * them anew takes half of the time of a page.
   */
  closePages(): Promise<void>
  /** Closes everything of this browser, and throws what any page reported. */
  close(): Promise<void>
}

/** The one Chromium of this process: a file after another uses it, since to start it takes a second of a processor. */
let chromiumOfProcess: Promise<Browser> | undefined

/** A browser for the tests of one file: closes its pages after each test, and fails the file where a page reported an error. */
export function testBrowser(): TestBrowser {
  let browser: TestBrowser | undefined
  const opened = (): TestBrowser => {
    assert(browser, 'it is opened before the first test')
    return browser
  }
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterEach(() => opened().closePages())
  afterAll(() => opened().close())
  return {
    open: (path, options) => opened().open(path, options),
    closePages: () => opened().closePages(),
    close: () => opened().close(),
  }
}

/** Opens a browser in this process's Chromium. Has the pages built: a gateway that builds them for the first request may be silent for too long. */
export async function openBrowser(): Promise<TestBrowser> {
  await loadAssets(createLogger({ level: 'error', service: 'test', write: () => {} }))
  const browser = await runningChromium()
  const problems: string[] = []
  const used: BrowserContext[] = []
  const free: BrowserContext[] = []
  return {
    async open(path, options) {
      const context = free.pop() ?? (await openContext(browser))
      used.push(context)
      const page = await openPage(context, options)
      tellWhatWasShown(page)
      page.on('pageerror', (error) => problems.push(`${path}: ${error.stack ?? error.message}`))
      page.on('console', (message) => {
        const text = message.text()
        if (text.includes('Content Security Policy')) problems.push(`${path}: ${text}`)
      })
      await page.goto(new URL(path, options.url).href)
      return page
    },
    async closePages() {
      const contexts = used.splice(0)
      await Promise.all(contexts.map(clear))
      free.push(...contexts)
    },
    async close() {
      const contexts = [...used.splice(0), ...free.splice(0)]
      await Promise.all(contexts.map((context) => context.close()))
      expect(problems).toEqual([])
    },
  }
}

/** Ends this process's Chromium, for a program that is no test: a process of tests ends it by its own end. */
export async function stopChromium(): Promise<void> {
  await (await chromiumOfProcess)?.close()
}

function runningChromium(): Promise<Browser> {
  chromiumOfProcess ??= launch().then((browser) =>
    // One that crashed costs its file; the next file starts another.
    browser.on('disconnected', () => {
      chromiumOfProcess = undefined
    }),
  )
  return chromiumOfProcess
}

/** Fails where axe-core finds a violation of WCAG A or AA, or of its best practices. */
export async function expectAccessible(page: Page): Promise<void> {
  await expectNone(page, async () => {
    // To read the source takes a quarter of the whole.
    if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe.source)
    return page.evaluate(listInaccessible)
  })
}

/**
 * Fails where `find` finds something on the page at rest. Some pages ask for their figures every few seconds and draw them anew. So a
 * finding counts if it is still there when the page is at rest again.
 */
async function expectNone(page: Page, find: () => Promise<string[]>): Promise<void> {
  await untilAtRest(page)
  if ((await find()).length === 0) return
  await untilAtRest(page)
  expect(await find()).toEqual([])
}

/** Waits until no figures are being replaced, which are paler, nothing moves, and the latest size and scheme are drawn. */
async function untilAtRest(page: Page): Promise<void> {
  await page.waitForFunction(() => !document.querySelector('[aria-busy="true"]:not([role="log"])'))
  await page.waitForFunction(isStill)
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))
}

/** Runs in the page. */
async function listInaccessible(): Promise<string[]> {
  const { violations } = await (window as unknown as { axe: typeof axe }).axe.run(document, {
    // The others' elements are not described, which takes most of the time on a large page.
    resultTypes: ['violations'],
  })
  // Nobody reads the name of an element that has no role.
  const nameless = [...document.querySelectorAll(':is(span, div, p)[aria-label]:not([role])')]
  return [
    ...violations.map(
      ({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' | ')}`,
    ),
    ...nameless.map((one) => `a name without a role: ${one.outerHTML.slice(0, 200)}`),
  ]
}

/** How a page may be looked at: pixels and scheme. */
export type Look = { width: number; colorScheme: 'light' | 'dark' }

/** At a desk in the light, and on a phone in the dark. */
export const DESK_AND_PHONE: readonly Look[] = [
  { width: 1280, colorScheme: 'light' },
  { width: 360, colorScheme: 'dark' },
]

/** Fails where the page, as it stands, is not accessible or too wide in one of `looks`. It is not loaded again for each. */
export async function expectGoodLooks(page: Page, looks = DESK_AND_PHONE): Promise<void> {
  for (const { width, colorScheme } of looks) {
    await page.setViewportSize({ ...DESKTOP, width })
    await page.emulateMedia({ colorScheme })
    // A script sets the scheme's attribute some time after the browser has changed the scheme.
    await page.waitForFunction((scheme) => {
      return (document.documentElement.dataset.mantineColorScheme ?? scheme) === scheme
    }, colorScheme)
    await expectAccessible(page)
    await expectNoSidewaysScroll(page)
  }
}

/** Whether no element is between two colours or places; a loader turns for ever. Runs in the page. */
function isStill(): boolean {
  return document.getAnimations().every((one) => {
    return one.playState !== 'running' || one.effect?.getComputedTiming().endTime === Number.POSITIVE_INFINITY
  })
}

/** Fails where the page is wider than its window, or where something on it reaches beyond the card it stands in. */
export async function expectNoSidewaysScroll(page: Page): Promise<void> {
  await expectNone(page, () => page.evaluate(listEscaped))
}

/** A page that is wider than its window, and whatever reaches beyond the right edge of its card and cannot be scrolled to. Runs in the page. */
function listEscaped(): string[] {
  const isScrolled = (element: Element, card: Element): boolean => {
    for (let one = element.parentElement; one && one !== card; one = one.parentElement)
      if (getComputedStyle(one).overflowX !== 'visible') return true
    return false
  }
  const { scrollWidth, clientWidth } = document.documentElement
  const wide = scrollWidth > clientWidth ? [`the page is ${scrollWidth} pixels wide, its window ${clientWidth}`] : []
  const escaped = [...document.querySelectorAll('.surface')].flatMap((card) => {
    const edge = card.getBoundingClientRect().right + 1
    return [...card.querySelectorAll('*')]
      .filter((one) => one.getBoundingClientRect().right > edge && !isScrolled(one, card))
      .map((one) => `${one.tagName} ${one.textContent?.slice(0, 60)}`)
  })
  return [...wide, ...escaped]
}

async function launch(): Promise<Browser> {
  const executablePath = findChromium()
  assert(executablePath, CHROMIUM_ADVICE)
  // Left to themselves, signals end this process, and Chromium with it; the library's handlers would keep it going.
  const handlers = { handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false }
  return chromium.launch({ executablePath, args: ARGUMENTS, ...handlers })
}

async function openContext(browser: Browser): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: DESKTOP, colorScheme: 'light', reducedMotion: 'reduce' })
  context.setDefaultTimeout(PATIENCE_MS)
  return context
}

async function openPage(context: BrowserContext, options: PageOptions): Promise<Page> {
  for (const pair of options.cookie?.split('; ') ?? []) {
    const at = pair.indexOf('=')
    await context.addCookies([{ name: pair.slice(0, at), value: pair.slice(at + 1), url: options.url }])
  }
  const page = await context.newPage()
  const { width, height, colorScheme } = options
  if (width || height) await page.setViewportSize({ ...DESKTOP, ...(width && { width }), ...(height && { height }) })
  if (colorScheme) await page.emulateMedia({ colorScheme })
  return page
}

const WAITING = ['waitFor', 'click', 'fill', 'focus'] as const
const SHOWN_CHARS = 1_000
let isTelling = false

/** What waits for something on a page in vain says what was there instead: most fail on a busy machine only, where nobody looks. */
function tellWhatWasShown(page: Page): void {
  if (isTelling) return
  isTelling = true
  const locators = Object.getPrototypeOf(page.locator('html'))
  for (const name of WAITING) {
    const original = locators[name]
    locators[name] = async function (this: Locator, ...given: unknown[]) {
      try {
        return await original.apply(this, given)
      } catch (error) {
        if (error instanceof errors.TimeoutError) {
          const shown = await this.page()
            .locator('body')
            .ariaSnapshot()
            .catch((gone) => String(gone))
          error.message += `\nOn ${this.page().url()}: ${shown.slice(0, SHOWN_CHARS)}`
        }
        throw error
      }
    }
  }
}

/** Closes the pages of a context, of which the next ones shall find nothing, but for one that does nothing and keeps the process. */
async function clear(context: BrowserContext): Promise<void> {
  const [keeper, ...others] = context.pages()
  for (const page of others) await page.close()
  const origin = keeper === undefined ? 'null' : new URL(keeper.url()).origin
  // A page that could not be loaded has none, and keeps nothing.
  if (origin === 'null') await keeper?.close()
  else if (keeper) {
    await keeper.unrouteAll()
    await keeper.goto(`${origin}/healthz`)
    const session = await context.newCDPSession(keeper)
    await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' })
    await session.detach()
  }
  await context.clearCookies()
  await context.clearPermissions()
}
