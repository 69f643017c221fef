/** Every page of the dashboard at every usual width: nothing scrolls sideways, and nothing leaves the card it stands in. */
import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { adjustment, type Office, openOffice, pendingOrder } from '@test/console/administration/fixture'
import { expectNoSidewaysScroll, openBrowser, type TestBrowser } from '@test/support/browser'
import { addCredit, ask, flushed } from '@test/usage/customer'

setDefaultTimeout(300_000)

const WIDTHS = [360, 768, 1024, 1280]
/** As long as they get, with nowhere to break. */
const NAME = 'A Company With A Rather Long Name & Sons (Holdings) Ltd.'
const EMAIL = 'accounts-payable-department@subsidiary.example-company.test'

let office: Office
let browser: TestBrowser
let paths: string[]

beforeAll(async () => {
  ;[office, browser] = await Promise.all([openOffice(), openBrowser()])
  const { first, gateway } = office
  const { accountId } = first.viewer
  await gateway.gateway.database.sql`UPDATE accounts SET name = ${NAME}, email = ${EMAIL} WHERE id = ${accountId}`
  await addCredit(gateway, accountId, '1234.56')
  const order = await pendingOrder(office, 1_000, accountId)
  const { orders } = gateway.gateway.deps.dashboard
  await orders.claimPaid({
    orderId: order.orderId,
    accountId,
    note: 'Sent today',
    actor: { kind: 'system', name: 'test' },
  })
  await office.administration.request(office.bob, adjustment(accountId, 2_000))
  const key = await gateway.apiKeys.create({ accountId, name: 'The key of the continuous integration of the backend' })
  if (key.kind !== 'created') throw new Error(key.kind)
  await ask(gateway, key.key)
  await flushed(gateway, accountId)
  paths = [
    ...[
      '',
      '/keys',
      `/keys/${key.keyId}`,
      '/models',
      '/playground',
      '/usage',
      '/credit',
      `/credit/orders/${order.orderId}`,
    ],
    ...[
      '/members',
      '/alerts',
      '/budgets',
      '/settings',
      '/admin/orders',
      '/admin/statements',
      '/admin/accounts',
      `/admin/accounts/${accountId}`,
    ],
    ...['/admin/approvals', '/admin/providers', '/admin/margins', '/admin/reconciliation', '/admin/audit'],
  ]
})
afterEach(() => browser.closePages())
afterAll(async () => {
  await browser.close()
  await office.stop()
})

test.each(WIDTHS)('every page fits %d pixels', async (width) => {
  const page = await browser.open('/dashboard', { url: office.gateway.url, cookie: office.first.cookie, width })
  for (const path of paths) {
    await page.goto(`${office.gateway.url}/dashboard${path}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.waitForFunction(() => !document.querySelector('[aria-label="Loading"], .mantine-Skeleton-root'))
    await expectNoSidewaysScroll(page).catch((error: Error) => expect(`${path}: ${error.message}`).toBe(''))
  }
})
