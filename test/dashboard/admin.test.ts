/**
 * The administration pages in Chromium: money moves only as shown and confirmed, and every page is accessible. Slow:
 * both schemes, two widths.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { balanceOf, type Office, openOffice, pendingOrder } from '@test/console/administration/fixture'
import { camt } from '@test/console/administration/statements/camt/build'
import { expectAccessible, expectNoSidewaysScroll, testBrowser } from '@test/support/browser'
import { type Person, signUpPerson } from '@test/support/person'
import type { Page } from 'playwright-core'
import { connectDatabase } from '@/db/client'

let office: Office
const browser = testBrowser()

beforeAll(async () => {
  office = await openOffice()
})
afterAll(() => office.stop())

function open(path: string, person: Person = office.first) {
  return browser.open(`/dashboard${path}`, { url: office.gateway.url, cookie: person.cookie })
}

/** Gives the reason that the dialog of this title asks for, and sends it. */
async function sendDialog(page: Page, title: string | RegExp, reason: string, action: string): Promise<void> {
  const dialog = page.getByRole('dialog', { name: title })
  await dialog.getByRole('textbox', { name: /^(Reason|Note)/ }).fill(reason)
  await dialog.getByRole('button', { name: action }).click()
}

describe('moving money', () => {
  test('a large adjustment waits until a second administrator has approved it', async () => {
    const { accountId } = await office.gateway.customer('10')
    const page = await open(`/admin/accounts/${accountId}`)
    await page.getByRole('button', { name: 'Adjust credit' }).click()
    await page.getByRole('dialog').getByLabel('Amount').fill('1500')
    await sendDialog(page, 'Adjust credit', 'goodwill after the outage', 'Adjust credit')
    await page.getByText('another administrator has to approve it').waitFor()
    await page.goto(`${office.gateway.url}/dashboard/admin/approvals`)
    await page.getByText('You asked for this: another administrator decides.').waitFor()
    expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0)

    const other = await open('/admin/approvals', office.second)
    await other.getByText('goodwill after the outage').waitFor()
    await other.getByRole('button', { name: 'Approve' }).click()
    await sendDialog(other, /^Approve/, 'agreed', 'Approve')
    await other.getByText('Approved and done.').waitFor()
    await other.getByText('Nothing waits for approval').waitFor()
    expect(await balanceOf(office, accountId)).toBe(1_510)
    await page.goto(`${office.gateway.url}/dashboard/admin/accounts/${accountId}`)
    await page.getByText('$1,510.00').waitFor()
  })

  test('an order is found, confirmed with a reason and partly refunded', async () => {
    const order = await pendingOrder(office, 40)
    const page = await open(`/admin/orders?reference=${order.reference}`)
    await page.getByRole('link', { name: order.reference }).click()
    const drawer = page.getByRole('dialog', { name: 'Order' })
    await drawer.getByRole('button', { name: 'Confirm payment' }).click()
    const question = page.getByRole('dialog', { name: 'Confirm payment' })
    await question.waitFor()
    // Closes what is in front alone.
    await page.keyboard.press('Escape')
    await question.waitFor({ state: 'hidden' })
    await drawer.getByRole('button', { name: 'Confirm payment' }).click()
    await sendDialog(page, 'Confirm payment', 'seen at the bank', 'Confirm payment')
    await drawer.getByRole('button', { name: 'Refund' }).click()
    const dialog = page.getByRole('dialog', { name: 'Refund order' })
    await dialog.getByRole('button', { name: 'Refund' }).click()
    await dialog.getByText('Enter an amount such as 25 or 12.50.').waitFor()
    await dialog.getByLabel('Amount').fill('50')
    await sendDialog(page, 'Refund order', 'too much', 'Refund')
    await dialog.getByText('At most 40 USD of this order can be refunded.').waitFor()
    await dialog.getByLabel('Amount').fill('15.50')
    await sendDialog(page, 'Refund order', 'half was not used', 'Refund')
    await drawer.getByText('Partly refunded').waitFor()
    await page.keyboard.press('Escape')
    await drawer.waitFor({ state: 'hidden' })
    expect(await balanceOf(office, order.accountId)).toBe(24.5)
  })

  test('a bank statement is previewed with colours and counts, imported, and then shown as imported', async () => {
    const [fits, differs] = [await pendingOrder(office, 30), await pendingOrder(office, 60)]
    const text = [
      'Buchungstag;Betrag;Währung;Verwendungszweck;Auftraggeber',
      `20.11.2026;30,00;USD;${fits.reference};Example Ltd`,
      `20.11.2026;59,00;USD;${differs.reference};<img src=x onerror=alert(1)>`,
      '20.11.2026;-1,00;USD;Gebühren;Bank',
    ].join('\n')
    const page = await open('/admin/statements')
    const upload = async () => {
      const buffer = Buffer.from(text, 'latin1')
      await page.getByLabel('Statement file').setInputFiles({ name: 'statement.csv', mimeType: 'text/csv', buffer })
      await page.getByRole('button', { name: 'Preview' }).click()
    }
    await upload()
    await page.getByText('1 of 3 lines').waitFor()
    await page.getByRole('cell', { name: /^Amount differs/ }).waitFor()
    await page.getByText('<img src=x onerror=alert(1)>').waitFor()
    expect(await balanceOf(office, fits.accountId)).toBe(0)
    await page.getByRole('button', { name: 'Import' }).click()
    await sendDialog(page, 'Import statement', 'statement of November', 'Import')
    await page.getByRole('cell', { name: 'Kept as unmatched payment', exact: true }).waitFor()
    expect(await balanceOf(office, fits.accountId)).toBe(30)
    await page.getByRole('button', { name: 'Import another' }).click()
    await upload()
    await page.getByText('Nothing to import').waitFor()

    await page.goto(`${office.gateway.url}/dashboard/admin/orders`)
    await page.getByRole('button', { name: 'Dismiss' }).click()
    await sendDialog(page, 'Dismiss payment', 'sent back', 'Dismiss payment')
    await page.getByText('The payment was dismissed.').waitFor()
    await page.getByText('Payments to match').waitFor({ state: 'detached' })
  })

  test('a CAMT.053 statement is recognised by its content; an XML error shows its place; a long file is shortened in its field', async () => {
    const order = await pendingOrder(office, 31)
    const payments = [{ text: order.reference, payer: 'Müller' }]
    const xml = camt('08', [{ amount: '31.00', bankReference: 'P1', payments }]).replace('UTF-8', 'ISO-8859-1')
    const page = await open('/admin/statements')
    const upload = async (content: string) => {
      const buffer = Buffer.from(content, 'latin1')
      await page.getByLabel('Statement file').setInputFiles({ name: 'november.csv', mimeType: 'text/csv', buffer })
      await page.getByRole('button', { name: 'Preview' }).click()
    }
    await upload(xml.replace('</Ntry>', ''))
    await page.getByText(/The XML is broken at line \d+, column \d+/).waitFor()
    await upload(`${xml}${' '.repeat(100_000)}`)
    await page.getByText('1 of 1 lines').waitFor()
    await page.getByText('Müller').first().waitFor()
    await page.getByRole('button', { name: 'Back' }).click()
    await page.getByLabel('Statement file').setInputFiles({
      ...{ name: 'november.csv', mimeType: 'text/csv', buffer: Buffer.from(`${xml}${' '.repeat(100_000)}`, 'latin1') },
    })
    await page.getByText('The first 100,000 characters of the file').waitFor()
    expect(await page.getByLabel('Statement', { exact: true }).inputValue()).toHaveLength(100_000)
  })

  test('a payment without an order is credited to the order whose reference is typed', async () => {
    const order = await pendingOrder(office, 35)
    await office.gateway.gateway.deps.dashboard.orders.confirmPayment({
      source: 'bank',
      externalId: crypto.randomUUID(),
      amountCents: 3_500,
      currency: 'USD',
      sender: 'Forgetful Ltd',
      actor: { kind: 'system', name: 'test' },
    })
    const page = await open('/admin/orders')
    await page
      .getByRole('listitem')
      .filter({ hasText: 'Forgetful Ltd' })
      .getByRole('button', { name: 'Credit' })
      .click()
    await page.getByLabel('Reference of the order').fill('SVC-2222-2222')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByText('No single order has this reference.').waitFor()
    await page.getByLabel('Reference of the order').fill(order.reference.toLowerCase())
    await page.getByRole('button', { name: 'Continue' }).click()
    await sendDialog(page, 'Credit payment', 'asked the payer', 'Credit payment')
    await page.getByText('The payment was credited.').waitFor()
    expect(await balanceOf(office, order.accountId)).toBe(35)
  })

  test('a refusal of the server is shown, and the dialog stays open', async () => {
    const { accountId } = await office.gateway.customer('5')
    const page = await open(`/admin/accounts/${accountId}`)
    await page.getByRole('button', { name: 'Adjust credit' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Amount').fill('-7')
    await sendDialog(page, 'Adjust credit', 'a mistake', 'Adjust credit')
    await dialog.getByText('The account has only 5 USD available.').waitFor()
    await dialog.getByLabel('Amount').fill('twelve')
    await sendDialog(page, 'Adjust credit', 'a mistake', 'Adjust credit')
    await dialog.getByText('must be an amount of USD').waitFor()
  })
})

describe('accounts', () => {
  test('accounts are searched as typed, suspended with a reason, and activated', async () => {
    const person = await signUpPerson(office.gateway, { name: '100% Fruit_Co' })
    const page = await open('/admin/accounts')
    await page.getByLabel('Search').pressSequentially('100%')
    await page.waitForURL(/text=100%25/)
    // The field keeps the focus while the list changes under it.
    await page.keyboard.type(' fruit_')
    await page.waitForURL(/fruit_/)
    await page.getByRole('link', { name: '100% Fruit_Co' }).click()
    await page.getByRole('button', { name: 'Suspend' }).click()
    await sendDialog(page, 'Suspend account', 'unpaid bills', 'Suspend account')
    await page.getByText('The account is suspended.').waitFor()
    expect((await office.administration.viewAccount(person.viewer.accountId))?.status).toBe('suspended')
    await page.getByRole('button', { name: 'Activate' }).click()
    await sendDialog(page, 'Activate account', 'all is paid', 'Activate account')
    await page.getByText('The account is active.').waitFor()
  })

  test('an account gets its own limits, with a reason', async () => {
    const { accountId } = await office.gateway.customer('0')
    const page = await open(`/admin/accounts/${accountId}`)
    await page.getByText('100,000 requests a minute (standard)').waitFor()
    await page.getByRole('button', { name: 'Change limits' }).click()
    await page.getByRole('dialog').getByLabel('Requests per minute').fill('250')
    await sendDialog(page, 'Change limits', 'a pilot', 'Change limits')
    await page.getByText('250 requests a minute, ').waitFor()
    expect(await office.administration.viewAccount(accountId)).toMatchObject({
      requestsPerMinute: 250,
      concurrency: null,
    })
  })
})

describe('the page of providers', () => {
  test('a provider test is started by a click, shown while it runs, and explains failures', async () => {
    const page = await open('/admin/providers')
    const gate = Promise.withResolvers<void>()
    await page.route('**/api/admin/providers/provider1/test', async (route) => {
      await gate.promise
      await route.continue()
    })
    const button = page.getByRole('button', { name: 'Test provider1' })
    await button.click()
    await page.getByRole('status', { name: 'Loading' }).first().waitFor()
    gate.resolve()
    const table = page.getByRole('table', { name: 'What works at provider1' })
    await table.waitFor()
    const cells = await table.getByRole('row').nth(1).getByRole('cell').allInnerTexts()
    // The provider of this office answers everything with the same words, in one piece.
    expect(cells.slice(1, 3)).toEqual(['Works', 'Fails'])
    await page.getByText('svc/alpha, stream: came in one piece').waitFor()
    for (const [width, colorScheme] of [
      [1280, 'light'],
      [768, 'dark'],
      [360, 'dark'],
    ] as const) {
      await page.setViewportSize({ width, height: 900 })
      await page.emulateMedia({ colorScheme })
      await expectAccessible(page)
      await expectNoSidewaysScroll(page)
    }
    const { items } = await office.administration.searchAudit({ action: 'provider.test', limit: 10 })
    expect(items).toMatchObject([{ actorEmail: office.first.email, subject: 'provider1' }])
  })

  test('a provider test that could not run shows the reason and can be repeated', async () => {
    const page = await open('/admin/providers')
    const route = '**/api/admin/providers/provider1/test'
    const refused = { error: { message: 'The history is away.', type: 'x', param: null, code: null } }
    await page.route(route, (intercepted) => intercepted.fulfill({ status: 503, json: refused }))
    await page.getByRole('button', { name: 'Test provider1' }).click()
    await page.getByText('The history is away.').waitFor()
    await expectAccessible(page)
    await page.unroute(route)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('table', { name: 'What works at provider1' }).waitFor()
    expect(await page.getByText('The history is away.').count()).toBe(0)
  })

  test('the Providers page shows the results of tiers by model', async () => {
    const page = await open('/admin/providers')
    await page.getByText('Nothing observed yet').waitFor()
    await office.gateway.gateway.database.sql`
      INSERT INTO tier_observations (day, tier, model, answers, cut_by_length, output_tokens, retries, thumbs_up, thumbs_down)
      VALUES ((now() AT TIME ZONE 'UTC')::date, 'auto-smart', 'svc/alpha', 40, 10, 4000, 2, 3, 1)`
    await page.reload()
    const row = page.getByRole('row', { name: 'auto-smart' })
    await row.waitFor()
    expect(await row.getByRole('cell').allInnerTexts()).toEqual([
      ...['auto-smart', 'svc/alpha', '5 %', '40', '10 (25 %)', '2 (5 %)', '100', '3 / 1'],
    ])
  })
})

describe('every page', () => {
  test.each([
    ['/admin/orders?reference=SVC-2222', 'No order matches these filters'],
    ['/admin/accounts?text=nobody-has-this', 'No account matches'],
    ['/admin/audit?actor=nobody@example.test', 'No entry matches these filters'],
    ['/admin/reconciliation?provider=nobody', 'No request matches these filters'],
  ])('the empty page of %s says what to do', async (path, title) => {
    const page = await open(path)
    await page.getByText(title).waitFor()
    await page.getByRole('button', { name: /^Clear/ }).click()
    await page.getByText(title).waitFor({ state: 'detached' })
  })

  test('an administration page that failed to load says why and can be loaded again', async () => {
    const page = await open('/settings')
    for (const [path, route] of [
      ['/admin/orders', '**/api/admin/orders*'],
      ['/admin/accounts', '**/api/admin/accounts*'],
      ['/admin/approvals', '**/api/admin/approvals*'],
      ['/admin/providers', '**/api/admin/health'],
      ['/admin/margins', '**/api/admin/margins*'],
      ['/admin/books', '**/api/admin/books*'],
      ['/admin/reconciliation', '**/api/admin/count-gaps*'],
      ['/admin/audit', '**/api/admin/audit*'],
    ] as const) {
      const refused = { error: { message: 'The history is away.', type: 'x', param: null, code: null } }
      await page.route(route, (intercepted) => intercepted.fulfill({ status: 409, json: refused }))
      await page.goto(`${office.gateway.url}/dashboard${path}`)
      await page.getByText('The history is away.').waitFor()
      await page.unroute(route)
      await page.getByRole('button', { name: 'Try again' }).click()
      await page.getByText('The history is away.').waitFor({ state: 'detached' })
    }
  })

  test('members have no administration pages', async () => {
    const member = await signUpPerson(office.gateway)
    const page = await open('/admin/accounts', member)
    await page.getByRole('heading', { level: 1 }).waitFor()
    expect(await page.getByText('Administration').count()).toBe(0)
    expect(await page.getByLabel('Search').count()).toBe(0)
  })

  test('the audit log is verified on request, and names a changed entry', async () => {
    const page = await open('/admin/audit')
    await page.getByRole('button', { name: 'Verify' }).click()
    await page.getByText('The log is intact').waitFor()
    // The gateway's own role may not.
    const owner = connectDatabase(office.gateway.stores.databaseUrl, { maxConnections: 1 })
    await owner.sql.unsafe(
      'ALTER TABLE audit_entries DISABLE TRIGGER USER; UPDATE audit_entries SET subject = $$x$$ WHERE seq = 2',
    )
    await owner.close()
    await page.getByRole('button', { name: 'Verify' }).click()
    await page.getByText('Entry 2 was altered').waitFor()
  })
})
