/** The audit page of an account in Chromium: for owners and admins, with filters, pages and an empty state. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { expectGoodLooks, testBrowser } from '@test/support/browser'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { signUpPerson } from '@test/support/person'

const LOOKS = [
  { width: 1280, colorScheme: 'light' },
  { width: 320, colorScheme: 'dark' },
] as const

let gateway: TestGateway
const browser = testBrowser()

beforeAll(async () => {
  gateway = await startGateway({ respond: () => new Response('{}') })
})
afterAll(() => gateway.stop())

test('owners see the account’s changes, in pages and filtered; developers have no such page', async () => {
  const owner = await signUpPerson(gateway, { name: 'Ada Lovelace' })
  const { accountId } = owner.viewer
  for (let turn = 1; turn <= 55; turn++)
    await owner.json('PATCH', '/dashboard/api/a/:accountId/alerts', { firstUsd: String(100 + turn) })
  const path = `/dashboard/a/${accountId}/audit`
  const page = await browser.open(path, { url: gateway.url, cookie: owner.cookie })
  await page.getByText('account.alerts').first().waitFor()
  expect(await page.getByRole('listitem').count()).toBe(50)
  await expectGoodLooks(page, LOOKS)
  await page.getByRole('button', { name: 'Show more' }).click()
  await page.getByText(/^firstUsd: 101 /).waitFor()
  await page.getByLabel('Action').fill('invitation')
  await page.getByText('No entry matches these filters').waitFor()
  await expectGoodLooks(page, LOOKS)
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await page.getByText(/^firstUsd: 155 /).waitFor()
  const developer = await signUpPerson(gateway)
  await gateway.gateway.database.sql`INSERT INTO memberships (account_id, user_id, role)
    VALUES (${accountId}, ${developer.viewer.userId}, 'developer')`
  const other = await browser.open(`/dashboard/a/${accountId}/keys`, { url: gateway.url, cookie: developer.cookie })
  await other.getByRole('link', { name: 'API keys' }).waitFor()
  expect(await other.getByRole('link', { name: 'Audit log' }).count()).toBe(0)
  expect((await developer.json('GET', `/dashboard/api/a/${accountId}/audit`)).status).toBe(403)
})

test('a filter of changes includes both of its days, and an invalid day is refused', async () => {
  const owner = await signUpPerson(gateway)
  await owner.json('PATCH', '/dashboard/api/a/:accountId/alerts', { firstUsd: '100' })
  const read = async (query: string) => await owner.json('GET', `/dashboard/api/a/:accountId/audit?${query}`)
  const entriesOf = async (query: string) =>
    ((await read(`action=account.alerts&${query}`)).body as { items: { at: string; subject: string }[] }).items
  const [entry] = await entriesOf('')
  const day = entry?.at.slice(0, 10) ?? ''
  expect(await entriesOf(`from=${day}&to=${day}&subject=${entry?.subject}`)).toHaveLength(1)
  expect(await entriesOf('to=2026-01-01')).toHaveLength(0)
  expect(await entriesOf('subject=acct_other')).toHaveLength(0)
  expect((await read('from=yesterday')).body).toMatchObject({ error: { param: 'from' } })
})
