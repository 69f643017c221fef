/**
 * Every page of the dashboard at every usual width: nothing scrolls sideways or leaves its card. axe finds nothing on
 * a dark phone and a light desktop.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { adjustment, type Office, openOffice, pendingOrder } from '@test/console/administration/fixture'
import { makeTeam } from '@test/dashboard/screenshots/team'
import { storeBatch } from '@test/people/batches/stored'
import { expectAccessible, expectNoSidewaysScroll, testBrowser } from '@test/support/browser'
import { signUpPerson } from '@test/support/person'
import { addCredit, ask, flushed } from '@test/usage/customer'

const VIEWS = [
  { width: 360, colorScheme: 'dark', isJudged: true },
  { width: 768, colorScheme: 'light', isJudged: false },
  { width: 1024, colorScheme: 'dark', isJudged: false },
  { width: 1280, colorScheme: 'light', isJudged: true },
] as const
/** As long as they get, with nowhere to break. */
const NAME = 'A Company With A Rather Long Name & Sons (Holdings) Ltd.'
const MEMBER = 'Count Leopold Maximilian von und zu Hohenlohe-Langenburg-Schillingsfürst'
const EMAIL = 'accounts-payable-department@subsidiary.example-company.test'

/** The pages of administrators, each with its heading. */
const ADMIN_PAGES: Readonly<Record<string, string>> = {
  '/admin/orders': 'Orders',
  '/admin/statements': 'Bank statements',
  '/admin/accounts': 'Accounts',
  '/admin/approvals': 'Approvals',
  '/admin/providers': 'Providers',
  '/admin/margins': 'Margins',
  '/admin/books': 'Books',
  '/admin/reconciliation': 'Reconciliation',
  '/admin/audit': 'Audit log',
}

let office: Office
const browser = testBrowser()
let paths: string[]

beforeAll(async () => {
  office = await openOffice()
  const { first, gateway } = office
  const { accountId } = first.viewer
  await gateway.gateway.database.sql`UPDATE accounts SET email = ${EMAIL} WHERE id = ${accountId}`
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
  const member = await signUpPerson(gateway, { name: MEMBER })
  const others = [[member, 'developer']] as const
  await makeTeam(gateway, first, { company: NAME, models: ['svc/alpha'], others, keyId: key.keyId })
  await ask(gateway, key.key)
  await flushed(gateway, accountId)
  const batchId = await storeBatch(gateway, {
    ...{ accountId, keyId: key.keyId, status: 'in_progress', paused: 'no_credit' },
    lines: [{ customId: 'x'.repeat(64), state: 'errored', body: { error: { message: `No ${'y'.repeat(100)}.` } } }],
  })
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
      '/batches',
      `/batches/${batchId}`,
      '/credit/statement',
      '/failures',
      '/members',
      '/alerts',
      '/budgets',
      '/settings',
      `/a/${accountId}/settings`,
    ],
    ...Object.keys(ADMIN_PAGES),
    `/admin/accounts/${accountId}`,
  ]
})
afterAll(() => office.stop())

test.each(VIEWS)('every page fits $width pixels, in the $colorScheme', async ({ width, colorScheme, isJudged }) => {
  const { gateway, first } = office
  const page = await browser.open('/dashboard', { url: gateway.url, cookie: first.cookie, width, colorScheme })
  for (const path of paths) {
    await page.goto(`${gateway.url}/dashboard${path}`)
    await page.getByRole('heading', { level: 1, name: ADMIN_PAGES[path], exact: true }).waitFor()
    await page.waitForFunction(() => !document.querySelector('[aria-label="Loading"], .mantine-Skeleton-root'))
    const judge = async () => {
      await expectNoSidewaysScroll(page)
      if (isJudged) await expectAccessible(page)
    }
    await judge().catch((error: Error) => expect(`${path}: ${error.message}`).toBe(''))
  }
})
