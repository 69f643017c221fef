/** Pages of mailed links keep their token if they are drawn again before a person saw them, as on a busy machine. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { testBrowser } from '@test/support/browser'
import { startGateway, type TestGateway } from '@test/support/gateway'

let gateway: TestGateway
const browser = testBrowser()

beforeAll(async () => {
  gateway = await startGateway({ respond: () => new Response('{}') })
})
afterAll(() => gateway.stop())

test.each([
  ['verify-email', 'Enter the password that you chose when you signed up.'],
  ['reset-password', 'At least 8 characters.'],
  ['invitation', 'Sign in with the address that the invitation was sent to'],
])('the page /%s of a mailed link asks before it acts', async (path, words) => {
  const page = await browser.open('/healthz', { url: gateway.url })
  await page.addInitScript(drawAnew)
  await page.goto(`${gateway.url}/dashboard/${path}#token=sesame`)
  await page.getByText(words).waitFor()
  expect(new URL(page.url()).hash).toBe('')
})

/** Runs in the page: when the token is taken out of the address, something more urgent than the page has to be drawn before React goes on. */
function drawAnew(): void {
  const original = history.replaceState
  let isDone = false
  history.replaceState = function (...given) {
    original.apply(this, given)
    if (isDone) return
    isDone = true
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => history.replaceState(null, '', `${location.pathname}/`)
    port2.postMessage('')
    // Longer than React draws without looking whether there is something more urgent.
    for (let times = 0; times < 100_000_000; times++);
  }
}
