/** The alerts page, the page that turns alerts off, and the mails, in Chromium: by keyboard, on phone and desktop, in both schemes. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { SAMPLES } from '@test/accounts/mails/samples'
import { expectAccessible, expectGoodLooks, expectNoSidewaysScroll, testBrowser } from '@test/support/browser'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import { until } from '@test/support/until'
import { unsubscribeLink } from '@/accounts/alerts/unsubscribe'
import { renderMail } from '@/accounts/mails/render'
import { contentOf } from '@/accounts/mails/templates'

const VIEWS = [
  { width: 320, colorScheme: 'light' },
  { width: 768, colorScheme: 'dark' },
  { width: 1280, colorScheme: 'light' },
] as const

const SCHEDULED = [
  'Usage of the week',
  'Usage of the month',
  'Records of each day',
  'Records of each week',
  'Records of each month',
]

let gateway: TestGateway
const browser = testBrowser()

beforeAll(async () => {
  gateway = await startGateway({ respond: () => new Response('{}') })
})
afterAll(() => gateway.stop())

function open({ cookie }: Person, accountId: string, view: { width?: number; colorScheme?: 'light' | 'dark' } = {}) {
  return browser.open(`/dashboard/a/${accountId}/alerts`, { url: gateway.url, cookie, ...view })
}

test('alert thresholds are set, an invalid one is refused at its field, and an alert is turned off by keyboard', async () => {
  const owner = await signUpPerson(gateway, { name: 'Ada Lovelace' })
  const { accountId } = owner.viewer
  const page = await open(owner, accountId)
  await page.getByLabel('Very low credit, in USD').fill('50')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('The second threshold must be lower than the first.').waitFor()
  await page.getByLabel('Low credit, in USD', { exact: true }).fill('80')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('The alerts were saved.').waitFor()
  const toggle = page.getByRole('switch', { name: 'Budgets' })
  await toggle.focus()
  await page.keyboard.press('Space')
  await until(async () => !(await toggle.isChecked()), 'it to be off')
  await page.reload()
  await page.getByText('Always sent').waitFor()
  expect(await page.getByLabel('Low credit, in USD', { exact: true }).inputValue()).toBe('80')
  expect(await page.getByRole('switch', { name: 'Budgets' }).isChecked()).toBe(false)
  await expectGoodLooks(page, VIEWS)
})

test('developers can only choose their own alerts; viewers see the account’s alerts and change nothing', async () => {
  const owner = await signUpPerson(gateway)
  const { accountId } = owner.viewer
  for (const [role, isSeen] of [
    ['developer', false],
    ['viewer', true],
  ] as const) {
    const person = await signUpPerson(gateway)
    await gateway.gateway.database.sql`INSERT INTO memberships (account_id, user_id, role)
      VALUES (${accountId}, ${person.viewer.userId}, ${role})`
    const page = await open(person, accountId)
    await page.getByText('Always sent').waitFor()
    for (const name of ['Budgets', 'Keys that expire', ...SCHEDULED])
      expect(await page.getByRole('switch', { name }).count()).toBe(1)
    expect(await page.getByRole('switch').count()).toBe(2 + SCHEDULED.length)
    expect(await page.getByText('Low credit: below $10.00').count()).toBe(isSeen ? 1 : 0)
    expect(await page.getByRole('button', { name: 'Save' }).count()).toBe(0)
    await expectAccessible(page)
  }
})

test('scheduled mails are off by default, are turned on, and the mail’s link turns them off', async () => {
  const owner = await signUpPerson(gateway)
  const { accountId } = owner.viewer
  const page = await open(owner, accountId, { width: 320, colorScheme: 'dark' })
  for (const name of SCHEDULED) expect(await page.getByRole('switch', { name }).isChecked()).toBe(false)
  await page.getByRole('switch', { name: 'Usage of the week' }).focus()
  await page.keyboard.press('Space')
  const { sql } = gateway.gateway.database
  const asked = () => sql`SELECT kind FROM scheduled_mails WHERE account_id = ${accountId}`
  await until(async () => (await asked()).length === 1, 'it to be kept')
  expect(await asked()).toMatchObject([{ kind: 'digest_weekly' }])
  await expectNoSidewaysScroll(page)
  const secret = await gateway.gateway.deps.dashboard.mailSecrets()
  const link = unsubscribeLink(secret, { accountId, email: owner.email, kind: 'digest_weekly' })
  expect((await fetch(gateway.url + link, { method: 'POST' })).status).toBe(200)
  expect(await asked()).toHaveLength(0)
})

test('the page of a mail’s link asks first, and then names the alerts that it turned off', async () => {
  const owner = await signUpPerson(gateway)
  const { accountId } = owner.viewer
  const secret = await gateway.gateway.deps.dashboard.mailSecrets()
  const link = unsubscribeLink(secret, { accountId, email: 'team@example.test', kind: 'budget' })
  const page = await browser.open(link, { url: gateway.url, width: 320, colorScheme: 'dark' })
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Turn them off' }).click()
  await page.getByRole('heading', { name: 'Turned off' }).waitFor()
  await expectAccessible(page)
  await expectNoSidewaysScroll(page)
})

test('every mail is accessible and fits phone and desktop, in both schemes', async () => {
  const surroundings = { baseUrl: 'https://gateway.example.test', service: 'svc', token: 'a'.repeat(32) }
  const unsubscribeUrl = `https://gateway.example.test/mail/unsubscribe?token=${'b'.repeat(120)}`
  const html = (kind: string) => {
    const sample = SAMPLES.find((one) => one.kind === kind) ?? SAMPLES[0]
    return (
      sample && renderMail(contentOf(sample.kind, sample.facts), { ...surroundings, optional: { unsubscribeUrl } }).html
    )
  }
  const headers = { 'content-type': 'text/html; charset=utf-8' }
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: ({ url }) => new Response(html(new URL(url).pathname.slice(1)), { headers }),
  })
  try {
    const page = await browser.open('/', { url: server.url.origin })
    for (const [index, { kind }] of SAMPLES.entries()) {
      await page.goto(new URL(kind, server.url).href)
      await expectGoodLooks(page, [VIEWS[index % VIEWS.length] ?? VIEWS[0]])
      await page.setViewportSize({ width: 320, height: 700 })
      await expectNoSidewaysScroll(page)
    }
  } finally {
    await server.stop(true)
  }
})
