/** A whole purchase by card in Chromium, with a simulated Stripe Checkout page on loopback. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { expectAccessible, expectNoSidewaysScroll, openBrowser, type TestBrowser } from '@test/support/browser'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import { type StripeStub, startStripeStub, stripeEnvironment } from '@test/support/stripe-stub'
import { until } from '@test/support/until'
import type { Page } from 'playwright-core'

const CARD = '4242424242424242'
const USD = 1_000_000_000

let stripe: StripeStub
let gateway: TestGateway
let browser: TestBrowser
let person: Person

beforeAll(async () => {
  stripe = startStripeStub()
  gateway = await startGateway({
    respond: () => new Response(null, { status: 500 }),
    environment: { ...stripeEnvironment(stripe), STRIPE_AUTOMATIC_TAX: 'on' },
  })
  browser = await openBrowser()
})
beforeEach(async () => {
  person = await signUpPerson(gateway)
  Object.assign(stripe, { intercept: undefined, taxPercent: 0, webhookUrl: `${gateway.url}/webhooks/deposits/stripe` })
})
afterEach(() => browser.closePages())
afterAll(async () => {
  await browser.close()
  await gateway.stop()
  await stripe.stop()
})

describe('credit by card', () => {
  test('credit by card takes four clicks, shows tax and invoice, and no card number reaches the gateway', async () => {
    stripe.taxPercent = 19
    const page = await open('/dashboard/credit')
    await page.getByText('Tax is added there, where it is due; it is not credit.').waitFor()
    await page.getByText('$25', { exact: true }).click()
    await page.getByRole('button', { name: 'Order $25.00 of credit' }).click()
    await page.getByRole('link', { name: 'Pay $25.00' }).click()
    await page.getByRole('heading', { name: 'Checkout of the stub' }).waitFor()
    await page.getByLabel('Card number').fill(CARD)
    await page.getByRole('button', { name: 'Pay', exact: true }).click()
    await page.getByText('The credit is on your account').waitFor()
    await page.getByText('You paid $29.75, of which $4.75 is tax.').waitFor()
    await expectAccessible(page)
    expect(await available()).toBe(25 * USD)
    await page.getByRole('button', { name: 'Invoice or receipt' }).click()
    await page.getByRole('heading', { name: 'Invoice of the stub' }).waitFor()
    expect(gateway.logLines.join('\n')).not.toContain(CARD)
    const [{ found } = { found: '' }] = await gateway.gateway.database.sql<{ found: string }[]>`
      SELECT concat((SELECT json_agg(o) FROM orders o), (SELECT json_agg(p) FROM payments p),
        (SELECT json_agg(e) FROM order_events e), (SELECT json_agg(a) FROM audit_entries a)) AS found`
    expect(found).toContain(person.email)
    expect(found).not.toContain(CARD)
  })

  test('credit by card works with the bank’s confirmation page, in two tabs, and if the customer returns twice', async () => {
    const page = await ordered()
    const other = await open(new URL(page.url()).pathname)
    await other.getByText('Waiting for the payment.').waitFor()
    await page.getByRole('link', { name: 'Pay $50.00' }).click()
    await page.getByRole('button', { name: 'Pay with a card that asks the bank' }).click()
    await page.getByRole('button', { name: 'Confirm' }).click()
    await page.getByText('The credit is on your account').waitFor()
    await other.getByText('The credit is on your account').waitFor()
    await page.goto(page.url())
    await page.getByText('The credit is on your account').waitFor()
    expect(await available()).toBe(50 * USD)
  })

  test('an order that was left at Stripe’s page can be paid later, on the same page', async () => {
    const page = await ordered()
    const address = page.url()
    const pay = page.getByRole('link', { name: 'Pay $50.00' })
    const first = await pay.getAttribute('href')
    await pay.click()
    await page.getByRole('link', { name: 'Back' }).click()
    await page.getByText('Waiting for the payment.').waitFor()
    await page.close()
    const again = await open(new URL(address).pathname)
    const link = again.getByRole('link', { name: 'Pay $50.00' })
    await link.waitFor()
    expect(await link.getAttribute('href')).toBe(first)
    await link.click()
    await again.getByRole('button', { name: 'Pay', exact: true }).click()
    await again.getByText('The credit is on your account').waitFor()
    expect(await available()).toBe(50 * USD)
  })

  test('after a payment the order’s page waits for the event, offers no second payment, and updates by itself', async () => {
    stripe.webhookUrl = undefined
    const page = await ordered()
    await page.getByRole('link', { name: 'Pay $50.00' }).click()
    await page.getByRole('button', { name: 'Pay', exact: true }).click()
    await page.getByText('Your payment is being confirmed. You do not need to pay again.').waitFor()
    expect(await page.getByRole('link', { name: 'Pay $50.00' }).count()).toBe(0)
    await expectAccessible(page)
    await stripe.deliver(stripe.events.at(-1) ?? {}, `${gateway.url}/webhooks/deposits/stripe`)
    await page.getByText('The credit is on your account').waitFor()
  })

  test('a bank debit shows that it takes days, and its failure', async () => {
    const page = await ordered()
    const session = [...stripe.sessions.values()].at(-1)
    stripe.begin(session?.id ?? '')
    await page.getByText('Your bank is working on the payment').first().waitFor()
    stripe.settle(session?.id ?? '', false)
    await page.getByText('Your bank refused it, and nothing was credited.').waitFor()
    await expectAccessible(page)
    expect(await available()).toBe(0)
  })

  test('a missing payment page is requested again, on a phone and in the dark scheme', async () => {
    const page = await ordered({ width: 360, colorScheme: 'dark' })
    const sessions = stripe.sessions.size
    await gateway.gateway.database
      .sql`UPDATE orders SET payee = NULL, payment_url = NULL WHERE account_id = ${person.viewer.accountId}`
    await page.getByText('The page to pay on is not there yet').waitFor()
    await expectNoSidewaysScroll(page)
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Ask for the page again' }).click()
    await page.getByRole('link', { name: 'Pay $50.00' }).waitFor()
    expect(stripe.sessions.size).toBe(sessions)
  })

  test('if Stripe cannot create a payment page, the order’s page says what to do', async () => {
    stripe.intercept = () => ({
      response: Response.json({ error: { type: 'card_error', message: 'x' } }, { status: 402 }),
    })
    const page = await open('/dashboard/credit')
    await page.getByRole('button', { name: 'Order $50.00 of credit' }).click()
    await page.getByText('The payment provider does not answer. Try again, or pay another way.').waitFor()
  })

  test('a cancelled order can no longer be paid at Stripe', async () => {
    const page = await ordered()
    const link = (await page.getByRole('link', { name: 'Pay $50.00' }).getAttribute('href')) ?? ''
    await page.getByRole('button', { name: 'Cancel order' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the order' }).click()
    await page.getByText('Was valid until').waitFor()
    await page.goto(link)
    await page.getByRole('heading', { name: 'This page is expired' }).waitFor()
  })
})

describe('an automatic top-up', () => {
  test('an automatic top-up saves a card on Stripe’s page, charges it when the balance is low, and lists the charge', async () => {
    stripe.taxPercent = 19
    const page = await withCard()
    await page.getByText('Visa ending in 4242', { exact: true }).waitFor()
    await page.getByText('Expires 12/2040').waitFor()
    await page.getByText('Your balance is below the amount, so the card is charged at once.').waitFor()
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Turn on' }).click()
    await page.getByRole('status', { name: 'State of the automatic top-up' }).getByText('On', { exact: true }).waitFor()
    await topUp()
    const latest = page.getByRole('listitem').filter({ hasText: '$50.00' })
    await latest.getByText(': paid').waitFor()
    expect(await available()).toBe(50 * USD)
    await latest.getByRole('link').click()
    await page.getByText('Visa ending in 4242, automatic').first().waitFor()
    await page.getByText('You paid $59.50, of which $9.50 is tax.').waitFor()
    await page.getByRole('link', { name: 'Receipt', exact: true }).click()
    const total = page.getByText('Total: ')
    await total.waitFor()
    expect(await total.textContent()).toBe('Total: $59.50')
    expect(await page.getByRole('row', { name: 'Tax' }).textContent()).toBe('Tax$9.50')
    await expectAccessible(page)
  })

  test('an automatic top-up that the bank wants confirmed says what to do, and works again once that order is paid', async () => {
    const page = await withCard()
    for (const card of stripe.cards.values()) card.behaviour = 'authentication_required'
    await page.getByRole('button', { name: 'Turn on' }).click()
    await page.getByRole('button', { name: 'Turn off' }).waitFor()
    await topUp()
    const latest = page.getByRole('listitem').filter({ hasText: '$50.00' })
    await latest.getByText('waiting for payment').waitFor()
    await latest.getByRole('link').click()
    await page.getByText('Your bank asks you to confirm this payment').waitFor()
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Pay $50.00' }).click()
    await page.getByRole('button', { name: 'Pay with a card that asks the bank' }).click()
    await page.getByRole('button', { name: 'Confirm' }).click()
    await page.getByText('The credit is on your account').waitFor()
    expect(await available()).toBe(50 * USD)
  })

  test('an automatic top-up ends when its card is removed, and shows the reason, also on a phone', async () => {
    const page = await withCard({ width: 360, colorScheme: 'dark' })
    for (const card of stripe.cards.values()) card.behaviour = 'stolen_card'
    await page.getByRole('button', { name: 'Turn on' }).click()
    await page.getByRole('button', { name: 'Turn off' }).waitFor()
    await topUp()
    await page.reload()
    await page.getByText('The bank or the payment provider refuses the saved card.').waitFor()
    await expectNoSidewaysScroll(page)
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Remove card' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove card' }).click()
    await page.getByText('No card is saved').waitFor()
    expect(stripe.cards.values().toArray().at(-1)?.customer).toBeNull()
  })

  test('an automatic top-up refuses an amount below the threshold, at its field', async () => {
    const page = await withCard()
    await page.getByLabel('Buy this much').fill('9')
    await page.getByRole('button', { name: 'Turn on' }).click()
    await page.getByText('The amount must be from 10 to 10000 USD.').waitFor()
    await expectAccessible(page)
  })
})

/** The credit page after a card was saved on the page of Stripe. */
async function withCard(look: Look = {}): Promise<Page> {
  const page = await open('/dashboard/credit', look)
  await page.getByText('No card is saved').waitFor()
  await page.getByRole('button', { name: 'Save a card' }).click()
  await page.getByRole('heading', { name: 'Card page of the stub' }).waitFor()
  await page.getByRole('button', { name: 'Save card' }).click()
  await page.getByRole('button', { name: 'Turn on' }).waitFor()
  return page
}

async function topUp(): Promise<void> {
  await gateway.gateway.deps.dashboard.orders.topUpDue()
}

type Look = { width?: number; colorScheme?: 'light' | 'dark' }

function open(path: string, look: Look = {}): Promise<Page> {
  return browser.open(path, { url: gateway.url, cookie: person.cookie, ...look })
}

/** The page of a new order of 50 USD. */
async function ordered(look: Look = {}): Promise<Page> {
  const page = await open('/dashboard/credit', look)
  await page.getByRole('button', { name: 'Order $50.00 of credit' }).click()
  await page.getByRole('link', { name: 'Pay $50.00' }).waitFor()
  await until(async () => page.url().includes('/credit/orders/'), 'the page of the order')
  return page
}

async function available(): Promise<number> {
  return (await gateway.balance(person.viewer.accountId)).available
}
