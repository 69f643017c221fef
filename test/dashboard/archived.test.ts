/** The usage page of an account with archived months, in Chromium: it shows where its lists begin, and links to the sums. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { recordOf } from '@test/console/administration/usage-archive/archive-world'
import { expectAccessible, expectGoodLooks, expectNoSidewaysScroll, testBrowser } from '@test/support/browser'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { COMMAND_TIMEOUT_MS, freshDatabase, startRedis, type TestServer } from '@test/support/stores'
import { PATIENCE_MS } from '@test/support/until'
import { type SignedInCustomer, signUpCustomer } from '@test/usage/customer'
import type { Page } from 'playwright-core'
import { OPERATOR } from '@/accounts/audit'
import { archiveUsage } from '@/console/administration/usage-archive/usage-archive'
import { connectDatabase } from '@/db/client'
import { connectRedis, waitForRedis } from '@/ledger/store/connection'
import { createLogger } from '@/lib/logger'
import { writeUsageBatch } from '@/usage/write-batch'

let redis: TestServer
let gateway: TestGateway
const browser = testBrowser()
let customer: SignedInCustomer

beforeAll(async () => {
  redis = await startRedis()
  const address = await freshDatabase()
  gateway = await startGateway({ respond: () => new Response(), redisUrl: redis.url, databaseUrl: address })
  customer = await signUpCustomer(gateway, '5')
  const { accountId, keyId } = customer
  const owner = connectDatabase(`${address}?role=svc_migrator`, { maxConnections: 2, statementTimeoutMs: 0 })
  const logger = createLogger({ level: 'error', write: () => undefined, service: 'svc' })
  const client = connectRedis(redis.url, { logger, commandTimeoutMs: COMMAND_TIMEOUT_MS })
  await waitForRedis(client, PATIENCE_MS)
  await owner.sql`SELECT ensure_usage_partitions('2025-09-01', 3)`
  await writeUsageBatch(gateway.gateway.database.sql, [
    recordOf(accountId, '2025-09-10', { keyId, cost: 300_000_000 }),
    recordOf(accountId, '2025-10-10', { keyId, cost: 20_000_000 }),
  ])
  await archiveUsage({ owner, redis: client, by: OPERATOR }, '2025-10')
  client.disconnect()
  await owner.close()
})
afterAll(async () => {
  await gateway.stop()
  await redis.stop()
})

const PHONE_IN_THE_DARK = { width: 360, colorScheme: 'dark' } as const

async function open(path: string, view: { width?: number; colorScheme?: 'light' | 'dark' } = {}): Promise<Page> {
  const page = await browser.open(path, { url: gateway.url, cookie: customer.person.cookie, ...view })
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.waitForFunction(() => !document.querySelector('[aria-label="Loading"], .mantine-Skeleton-root'))
  return page
}

test('a list that includes archived months shows its first day, and exports only later requests', async () => {
  const page = await open('/dashboard/usage?range=days&from=2025-09-01&to=2025-10-31')
  const note = page.getByRole('alert').filter({ hasText: 'are archived' })
  await note.waitFor()
  expect(await note.locator('time').getAttribute('dateTime')).toStartWith('2025-10-01')
  const href = (await page.getByRole('link', { name: 'Export CSV' }).getAttribute('href')) ?? ''
  expect(new URL(href, gateway.url).searchParams.get('from')).toStartWith('2025-10-01')
  expect((await fetch(new URL(href, gateway.url), { headers: { cookie: customer.person.cookie } })).status).toBe(200)
  // Both months, by their daily sums.
  await page.getByText('$0.32').first().waitFor()
  await expectGoodLooks(page)
})

test('a list with only archived requests exports nothing, and links to the statement', async () => {
  const page = await open('/dashboard/usage?range=days&from=2025-09-01&to=2025-09-30', PHONE_IN_THE_DARK)
  await page.getByText('Earlier ones are archived').waitFor()
  expect(await page.getByRole('link', { name: 'Export CSV' }).isVisible()).toBe(false)
  await expectAccessible(page)
  await expectNoSidewaysScroll(page)
  await page.getByRole('link', { name: 'account statement' }).last().click()
  await page.waitForURL('**/credit/statement')
})

test('a list that begins after the archived months does not mention archives', async () => {
  const page = await open('/dashboard/usage?range=days&from=2025-10-01&to=2025-10-31')
  await page.getByText('$0.02').first().waitFor()
  expect(await page.getByText('archived').count()).toBe(0)
})
