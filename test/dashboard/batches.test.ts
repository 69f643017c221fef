/** The pages of batches in Chromium: the first batch, the list, progress, pause, errors, files, and cancelling. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { storeBatch } from '@test/people/batches/stored'
import { DESK_AND_PHONE, expectGoodLooks, testBrowser } from '@test/support/browser'
import { startGateway, type TestGateway } from '@test/support/gateway'
import type { Person } from '@test/support/person'
import { until } from '@test/support/until'
import { chatCompletion } from '@test/support/upstream'
import { type SignedInCustomer, signUpCustomer } from '@test/usage/customer'
import type { Page } from 'playwright-core'

/** Also between the two, where a table is narrowest. */
const LOOKS = [...DESK_AND_PHONE, { width: 1024, colorScheme: 'light' }] as const
const LINES = [
  { customId: 'a-rather-long-id-of-a-request-of-which-there-are-many-in-a-night', state: 'succeeded', body: {} },
  { customId: 'two', state: 'errored', body: { error: { message: 'The input is too long for this model.' } } },
  { customId: 'three', state: 'waiting' },
  { customId: 'four', state: 'waiting' },
] as const

let gateway: TestGateway
const browser = testBrowser()
let customer: SignedInCustomer

beforeAll(async () => {
  gateway = await startGateway({ respond: () => Response.json(chatCompletion('Because.')) })
  customer = await signUpCustomer(gateway, '5')
})
afterAll(() => gateway.stop())

function open(path: string, { cookie }: Person = customer.person): Promise<Page> {
  return browser.open(`/dashboard${path}`, { url: gateway.url, cookie })
}

test('the example for the first batch works as it stands, and the batch is listed and followed to its end', async () => {
  const page = await open('/batches')
  await page.getByText('No batches yet').waitFor()
  await expectGoodLooks(page, LOOKS)
  const code = (await page.getByRole('region', { name: 'curl code' }).textContent()) ?? ''
  const [, body = ''] = /-d '([\s\S]+)'/.exec(code) ?? []
  const [, address = ''] = /curl (\S+)/.exec(code) ?? []
  const headers = { 'content-type': 'application/json', 'x-api-key': customer.key }
  const made = await fetch(address, { method: 'POST', headers, body })
  const { id } = (await made.json()) as { id: string }
  await page.reload()
  await page.getByRole('link', { name: id }).click()
  await page.getByText('2 of 2').waitFor()
  await page.getByText('Completed').waitFor()
})

test('a paused batch says why, leads to credit, names its first errors and has files', async () => {
  const { accountId, keyId, person } = customer
  const madeBy = person.viewer.userId
  const id = await storeBatch(gateway, {
    accountId,
    keyId,
    madeBy,
    status: 'in_progress',
    paused: 'no_credit',
    lines: LINES,
  })
  const page = await open('/batches')
  const row = page.getByRole('row').filter({ hasText: id })
  await row.getByText('Paused').waitFor()
  await row.getByText('2 of 4').waitFor()
  await expectGoodLooks(page, LOOKS)
  await page.setViewportSize({ width: 1280, height: 900 })
  await page.getByRole('link', { name: id }).click()
  await page.getByRole('progressbar', { name: '50% of the requests have ended' }).waitFor()
  await page.getByText('of at most $3.40').waitFor()
  await page.getByText('The input is too long for this model.').waitFor()
  await expectGoodLooks(page, LOOKS)
  for (const [name, file] of [
    ['Download answers', 'output'],
    ['Download errors', 'errors'],
  ] as const) {
    const href = await page.getByRole('link', { name }).getAttribute('href')
    const { status } = await person.fetch(href ?? '')
    expect([href, status]).toEqual([`/dashboard/api/a/${accountId}/batches/${id}/${file}`, 200])
  }
  await page.getByRole('link', { name: 'Add credit' }).click()
  await page.waitForURL('**/credit')
})

test('a batch is cancelled after a confirmation', async () => {
  const { accountId, keyId, person } = customer
  const stored = { accountId, keyId, madeBy: person.viewer.userId, status: 'in_progress', lines: LINES } as const
  const id = await storeBatch(gateway, stored)
  const page = await open(`/batches/${id}`)
  await page.getByRole('button', { name: 'Cancel' }).click()
  const dialog = page.getByRole('dialog', { name: 'Cancel this batch?' })
  await dialog.waitFor()
  await expectGoodLooks(page)
  await dialog.getByRole('button', { name: 'Cancel batch' }).click()
  await page.getByText('The batch is cancelled.').waitFor()
  const { sql } = gateway.gateway.database
  await until(async () => {
    const [row] = await sql`SELECT status FROM batches WHERE id = ${id}`
    return row?.status !== 'in_progress'
  }, 'the batch to be cancelled')
  await page.getByRole('button', { name: 'Cancel' }).waitFor({ state: 'hidden' })
})

test('the page of a batch that does not exist says so', async () => {
  const page = await open('/batches/msgbatch_none')
  await page.getByRole('heading', { name: 'Page not found' }).waitFor()
})
