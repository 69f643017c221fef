/** Pages without data: they show that it loads, why it failed to load, or what to do if there is none. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { expectAccessible, openBrowser, type TestBrowser } from '@test/support/browser'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { signUpPerson } from '@test/support/person'
import { until } from '@test/support/until'
import type { Locator, Page } from 'playwright-core'

/** A page, the end of the path of what it asks for, and what is read there by the owner of an account in which nothing has happened. */
const PARTS = [
  { path: '/keys', asks: /\/keys$/, reads: 'Robot' },
  { path: '/keys', asks: /\/management-keys$/, reads: 'No management keys.' },
  { path: '/keys/:keyId', asks: /\/keys\/key_\w+$/, reads: 'No requests in the latest 30 days' },
  { path: '/usage', asks: /\/usage$/, reads: 'Requests appear here about a second after they end' },
  { path: '/failures', asks: /\/failures$/, reads: 'No request has failed' },
  { path: '/credit', asks: /\/orders$/, reads: 'No orders yet' },
  { path: '/models', asks: /\/models$/, reads: '1 of 1' },
  { path: '/budgets', asks: /\/budgets$/, reads: 'No limit' },
  { path: '/alerts', asks: /\/alerts$/, reads: 'Always sent' },
  { path: '/members', asks: /\/members$/, reads: 'Test Person (you)' },
  { path: '/members', asks: /\/invitations$/, reads: 'No invitation is waiting for an answer.' },
  { path: '/members', asks: /\/member-policy$/, reads: 'Developers see all usage' },
  { path: '/a/:accountId/settings', asks: /\/allowed-addresses$/, reads: 'You are at 127.0.0.1.' },
  { path: '/a/:accountId/settings', asks: /\/key-policy$/, reads: 'Greatest age of a key, in days' },
]

/** Each begins and ends where its card's heading does, or that of the page, and there is one at least. */
async function expectInLine(states: Locator): Promise<void> {
  const found = await until(async () => {
    const measured = await states.evaluateAll(distances)
    return measured.length > 0 && measured
  }, 'a state to be shown')
  expect(found).toEqual(found.map(() => [0, 0]))
}

/** How much farther from the left and the right side of its card or page each is than it should be, in pixels. Runs in the page. */
function distances(states: Element[]): number[][] {
  // Around a card there is a line, and within it the distance of its text.
  const inCard = 1 + 20
  // One that has gone since it was found is nowhere.
  const shown = states.filter(({ isConnected }) => isConnected)
  return shown.map((state) => {
    const card = state.closest('.surface')
    const frame = (card ?? document.querySelector('main > *') ?? document.body).getBoundingClientRect()
    const own = state.getBoundingClientRect()
    return [own.left - frame.left, frame.right - own.right].map((distance) => distance - (card ? inCard : 0))
  })
}

const REFUSAL = { error: { message: 'Out for lunch.', type: 'x', param: null, code: null } }
let gateway: TestGateway
let browser: TestBrowser
let page: Page
let keyId: string
let accountId: string

beforeAll(async () => {
  ;[gateway, browser] = await Promise.all([startGateway({ respond: () => new Response('{}') }), openBrowser()])
  const { cookie, json, viewer } = await signUpPerson(gateway)
  accountId = viewer.accountId
  await json('POST', '/dashboard/api/a/:accountId/organisation', { name: 'Engines Ltd', country: 'GB' })
  const made = await json('POST', '/dashboard/api/a/:accountId/keys', { name: 'Robot' })
  keyId = (made.body as { item: { id: string } }).item.id
  page = await browser.open('/dashboard/settings', { url: gateway.url, cookie, colorScheme: 'dark' })
})
afterAll(async () => {
  await browser.close()
  await gateway.stop()
})

test.each(PARTS)(
  '$path shows that $asks is loading, shows why it failed, and tries again',
  async ({ path, asks, reads }) => {
    const held = Promise.withResolvers<void>()
    const isAsked = ({ pathname }: URL) => pathname.startsWith('/dashboard/api/') && asks.test(pathname)
    await page.route(isAsked, async (route) => {
      await held.promise
      await route.fulfill({ status: 418, json: REFUSAL })
    })
    await page.goto(`${gateway.url}/dashboard${path.replace(':keyId', keyId).replace(':accountId', accountId)}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    const loading = page.getByRole('status', { name: 'Loading' }).first()
    await loading.waitFor()
    await expectInLine(page.getByRole('status', { name: 'Loading' }))
    await expectAccessible(page)
    held.resolve()
    await page.getByText('Out for lunch.').waitFor()
    await expectInLine(page.getByRole('alert'))
    expect(await page.getByText(reads).count()).toBe(0)
    await expectAccessible(page)
    await page.unroute(isAsked)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText(reads).first().waitFor()
    await loading.waitFor({ state: 'detached' })
  },
)
