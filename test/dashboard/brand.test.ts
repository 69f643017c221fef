/** The operator's name, logo, colour and links on every page that customers see, in Chromium: three widths, both schemes. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expectAccessible, expectNoSidewaysScroll, testBrowser } from '@test/support/browser'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import { chatCompletion } from '@test/support/upstream'
import type { Page } from 'playwright-core'

const NAME = 'Acme & Söhne'
const TERMS = 'https://example.test/terms?a=1&b=2'
const LOGO =
  '<svg xmlns="http://www.w3.org/2000/svg" width="26" height="26"><circle cx="13" cy="13" r="12" fill="#0f766e"/></svg>'

let gateway: TestGateway
let person: Person
let folder: string
const browser = testBrowser()

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'brand-'))
  const logo = join(folder, 'logo.svg')
  await Bun.write(logo, LOGO)
  gateway = await startGateway({
    respond: () => Response.json(chatCompletion('ok')),
    environment: {
      ...{ BRAND_NAME: NAME, BRAND_LOGO: logo, BRAND_COLOR: '#0f766e', SUPPORT_EMAIL: 'help@example.test' },
      ...{ TERMS_URL: TERMS, PRIVACY_URL: 'https://example.test/privacy', SIGN_UP: 'open' },
    },
  })
  person = await signUpPerson(gateway, {})
})
afterAll(async () => {
  await gateway.stop()
  await rm(folder, { recursive: true })
})

async function expectBranded(page: Page): Promise<void> {
  await page.getByRole('link', { name: `${NAME}, home` }).waitFor()
  expect(await page.title()).toEndWith(` · ${NAME}`)
  const drawn = page.locator('img[src^="/dashboard/assets/logo-"]')
  expect(await drawn.evaluate((image: HTMLImageElement) => image.complete && image.naturalWidth > 0)).toBe(true)
  const links = await page.locator('footer a').evaluateAll((all) => all.map((one) => one.getAttribute('href')))
  expect(links).toEqual([TERMS, 'https://example.test/privacy', 'mailto:help@example.test'])
  await expectNoSidewaysScroll(page)
  await expectAccessible(page)
}

test.each([
  { width: 360, colorScheme: 'dark' },
  { width: 768, colorScheme: 'dark' },
  { width: 1280, colorScheme: 'light' },
] as const)('pages of $width pixels in the $colorScheme have the brand, and axe finds nothing', async (view) => {
  const out = await browser.open('/dashboard/sign-up', { url: gateway.url, ...view })
  await out.getByRole('button', { name: 'Create account' }).waitFor()
  await expectBranded(out)
  expect(await out.getByRole('link', { name: 'terms', exact: true }).getAttribute('href')).toBe(TERMS)
  const button = out.getByRole('button', { name: 'Create account' })
  expect(await button.evaluate((one) => getComputedStyle(one).backgroundColor)).toBe('rgb(15, 118, 110)')
  const inside = await browser.open('/dashboard', { url: gateway.url, cookie: person.cookie, ...view })
  await inside.getByRole('heading', { level: 1 }).waitFor()
  await inside.waitForFunction(() => !document.querySelector('[aria-label="Loading"], .mantine-Skeleton-root'))
  await expectBranded(inside)
})

test('the guide and the API documentation show the brand', async () => {
  for (const colorScheme of ['light', 'dark'] as const) {
    const guide = await browser.open('/docs/guide', { url: gateway.url, colorScheme })
    expect(await guide.title()).toEndWith(`Guide · ${NAME}`)
    await guide.getByRole('link', { name: `${NAME} Guide` }).waitFor()
    expect(await guide.locator('footer a').allTextContents()).toEqual(['Terms', 'Privacy', 'Support'])
    await expectAccessible(guide)
  }
  const docs = await browser.open('/docs', { url: gateway.url })
  expect(await docs.title()).toBe(`API documentation · ${NAME}`)
  await docs.getByRole('heading', { level: 1 }).first().waitFor()
  await docs.getByRole('link', { name: 'Terms' }).waitFor()
  const document = (await (await fetch(`${gateway.url}/docs/json`)).json()) as { info: { title: string } }
  expect(document.info.title).toBe(NAME)
})

test('the logo is served as an image that cannot run scripts or load files', async () => {
  const page = await (await fetch(`${gateway.url}/dashboard`)).text()
  const path = /<link rel="icon" href="(\/dashboard\/assets\/logo-[a-z0-9]+\.svg)" type="image\/svg\+xml">/.exec(
    page,
  )?.[1]
  for (const address of [path ?? '', '/favicon.ico']) {
    const response = await fetch(gateway.url + address)
    expect(response.headers.get('content-type')).toBe('image/svg+xml')
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'none';.*sandbox/)
    expect(await response.text()).toBe(LOGO)
  }
})

test('receipts and authenticator apps show the brand name', async () => {
  expect(gateway.gateway.deps.dashboard.seller.name).toBe(NAME)
  const { password } = person
  const { body } = await person.json('POST', '/dashboard/api/session/totp/enable', { password })
  expect(new URL((body as { uri: string }).uri).searchParams.get('issuer')).toBe(NAME)
})
