/** The credit pages in Chromium: ordering, paying in the sandbox, bank transfers, receipts, and every state. Slow: both schemes. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { expectAccessible, expectGoodLooks, expectNoSidewaysScroll, testBrowser } from '@test/support/browser'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import { until } from '@test/support/until'
import { addCredit } from '@test/usage/customer'
import type { Page } from 'playwright-core'
import type { Actor, PaymentSource } from '@/console/orders/types'
import type { OrderBody } from '@/people/orders/bodies'

const ACTOR: Actor = { kind: 'system', name: 'test' }

let gateway: TestGateway
const browser = testBrowser()
let person: Person

beforeAll(async () => {
  gateway = await startGateway({ respond: () => new Response(null, { status: 500 }) })
  person = await signUpPerson(gateway)
})
afterAll(() => gateway.stop())

async function ownSecondAccount(owner: Person): Promise<Person> {
  const other = await signUpPerson(gateway, { name: 'Second account' })
  await gateway.gateway.database.sql`INSERT INTO memberships (account_id, user_id, role)
    VALUES (${other.viewer.accountId}, ${owner.viewer.userId}, 'owner')`
  return other
}

test('the transfer dialog shows that it loads, shows a failure, and can try again', async () => {
  const owner = await signUpPerson(gateway)
  await ownSecondAccount(owner)
  const page = await open('/dashboard/credit', { width: 390 }, owner)
  const looked = Promise.withResolvers<void>()
  let isDown = true
  await page.route('**/transfers/options', async (route) => {
    await looked.promise
    await (isDown ? route.abort() : route.continue())
  })
  await page.getByRole('button', { name: 'Move credit' }).click()
  const dialog = page.getByRole('dialog', { name: 'Move credit' })
  await dialog.getByRole('status', { name: 'Loading' }).waitFor()
  await expectAccessible(page)
  looked.resolve()
  await dialog.getByText('The service could not be reached.').waitFor()
  await expectAccessible(page)
  isDown = false
  await dialog.getByRole('button', { name: 'Try again' }).click()
  await dialog.getByLabel('Amount in US dollars').waitFor()
})

test('credit is transferred to another account of the owner, and a refusal gives its reason', async () => {
  const owner = await signUpPerson(gateway)
  const page = await open('/dashboard/credit', { width: 390, colorScheme: 'dark' }, owner)
  await page.getByText('No orders yet').waitFor()
  expect(await page.getByRole('button', { name: 'Move credit' }).count()).toBe(0)
  const other = await ownSecondAccount(owner)
  await addCredit(gateway, owner.viewer.accountId, '10')
  await page.reload()
  await page.getByRole('button', { name: 'Move credit' }).click()
  const dialog = page.getByRole('dialog', { name: 'Move credit' })
  await dialog.getByRole('button', { name: 'Move credit' }).click()
  await dialog.getByText('Choose an account.').waitFor()
  await dialog.getByLabel('To', { exact: true }).click()
  await page.getByRole('option', { name: 'Second account' }).click()
  await dialog.getByLabel('Amount in US dollars').fill('10.01')
  await dialog.getByRole('button', { name: 'Move credit' }).click()
  await dialog.getByText('Only 10 USD is available').waitFor()
  await expectAccessible(page)
  await expectNoSidewaysScroll(page)
  await dialog.getByLabel('Amount in US dollars').fill('10')
  await dialog.getByRole('button', { name: 'Move credit' }).click()
  await page.getByText('$10.00 was moved to Second account.').waitFor()
  await page.getByText('$0.00').first().waitFor()
  expect(Number((await gateway.balance(other.viewer.accountId)).available)).toBe(10_000_000_000)
})

test.each([390, 1280])(
  'the transfer dialog at %d px shows what can be transferred now, and when the rest can be',
  async (width) => {
    const owner = await signUpPerson(gateway)
    await ownSecondAccount(owner)
    await addCredit(gateway, owner.viewer.accountId, '10')
    await pay(await create(owner, '20', 'deposit'), 'deposit:sandbox')
    const page = await open('/dashboard/credit', { width }, owner)
    await page.getByRole('button', { name: 'Move credit' }).click()
    const dialog = page.getByRole('dialog', { name: 'Move credit' })
    await dialog.getByText('You can move $10.00 now.').waitFor()
    await dialog.getByText('$20.00 from').waitFor()
    await expectAccessible(page)
    await expectNoSidewaysScroll(page)
  },
)

describe('a deposit', () => {
  test('a deposit is ordered, paid on the sandbox page, and credited while the page waits', async () => {
    const page = await open('/dashboard/credit')
    await page.getByText('No orders yet').waitFor()
    await page.getByText('$25', { exact: true }).click()
    await page.getByRole('radio', { name: 'Deposit' }).click()
    await page.getByRole('button', { name: 'Order $25.00 of credit' }).click()
    await page.getByRole('heading', { name: 'Pay your deposit' }).waitFor()
    const reference = (await page.getByRole('heading', { level: 1 }).textContent())?.replace('Order ', '') ?? ''
    const orderAddress = page.url()
    await page.getByRole('link', { name: 'Pay $25.00' }).click()
    await page.getByRole('heading', { name: 'Sandbox payment' }).waitFor()
    await expectAccessible(page)
    await page.getByText(reference).waitFor()
    const waiting = await open(new URL(orderAddress).pathname)
    await waiting.getByText('Waiting for the payment.').waitFor()
    await page.getByRole('button', { name: 'Pay 25.00 USD' }).click()
    await page.getByText('Paid. The gateway has been told.').waitFor()
    await waiting.getByText('The credit is on your account').waitFor()
    await page.getByRole('link', { name: 'Back to the order' }).click()
    await page.getByText('The credit is on your account').waitFor()
    expect(page.url()).toBe(orderAddress)
    await page.getByRole('link', { name: 'Credit', exact: true }).click()
    await page.getByText('$25.00').first().waitFor()
    expect((await gateway.balance(person.viewer.accountId)).available).toBe(25_000_000_000 as never)
  })

  test('a deposit of another amount is shown as under review', async () => {
    const order = await create(person, '30', 'deposit')
    const page = await open(order.paymentUrl ?? '', { width: 360, colorScheme: 'dark' })
    await expectNoSidewaysScroll(page)
    await expectAccessible(page)
    await page.getByLabel('Another amount in USD').fill('12.34')
    await page.getByRole('button', { name: 'Pay a different amount' }).click()
    await page.getByText('Paid. The gateway has been told.').waitFor()
    await page.getByRole('link', { name: 'Back to the order' }).click()
    await page.getByText('$12.34: it was not credited automatically because it is less').waitFor()
    await page.getByRole('status', { name: 'State of the order' }).getByText('Waiting for payment').waitFor()
  })
})

describe('a bank transfer', () => {
  test('a bank transfer order shows its data, can be marked as paid, and is cancelled after a confirmation', async () => {
    const payer = await signUpPerson(gateway)
    const page = await open('/dashboard/credit', {}, payer)
    await page.getByLabel('Or another amount in US dollars').fill('1,234.50')
    await page.getByRole('radio', { name: 'Bank transfer' }).click()
    await page.getByRole('button', { name: 'Order $1,234.50 of credit' }).click()
    await page.getByText('Do not pay to this account').waitFor()
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByRole('button', { name: 'Copy iban' }).click()
    const copied = () => page.evaluate(() => navigator.clipboard.readText())
    await until(async () => (await copied()) === 'GB82WEST12345698765432', 'the account to be copied')
    await page.getByRole('button', { name: "I've paid" }).click()
    await page.getByLabel('When and from which account did you pay?').fill('today <b>')
    await page.getByRole('dialog').getByRole('button', { name: "I've paid" }).click()
    await page.getByText('“today <b>”').waitFor()
    await page.getByRole('button', { name: 'Cancel order' }).click()
    await page.getByRole('dialog').getByText('will take no payment any more').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the order' }).click()
    await page.getByText('Was valid until').waitFor()
    const list = (await payer.json('GET', '/dashboard/api/a/:accountId/orders')).body as { items: OrderBody[] }
    expect(list.items.map(({ state, claimNote }) => [state, claimNote])).toEqual([['cancelled', 'today <b>']])
  })

  test('an order with an amount out of range is refused at its field', async () => {
    const page = await open('/dashboard/credit')
    await page.getByLabel('Or another amount in US dollars').fill('4.99')
    await page.getByRole('button', { name: 'Order credit' }).click()
    await page.getByText('Enter an amount from $5.00 to $10,000.00.').waitFor()
    await page.getByLabel('Or another amount in US dollars').fill('ten')
    await page.getByRole('button', { name: 'Order credit' }).click()
    await page.getByText('Enter an amount such as 25 or 12.50.').waitFor()
  })

  test('at the maximum of open orders, the page says why no order is possible', async () => {
    const busy = await signUpPerson(gateway)
    for (let index = 0; index < 5; index++) await create(busy, '10', 'bank_transfer')
    const page = await open('/dashboard/credit', {}, busy)
    await page.getByRole('button', { name: 'Order $50.00 of credit' }).click()
    await page.getByText('5 orders are waiting for their payment.').waitFor()
  })
})

describe('every page', () => {
  test('every credit page is accessible and fits a phone, in both schemes', async () => {
    const reader = await signUpPerson(gateway)
    const [waiting, paid] = [await create(reader, '20', 'bank_transfer'), await create(reader, '60', 'bank_transfer')]
    await pay(paid)
    await pay({ ...waiting, amountUsd: '1' })
    const pages = [
      ['/dashboard/credit', paid.reference],
      [`/dashboard/credit/orders/${waiting.orderId}`, 'Transfer exactly this amount'],
      [`/dashboard/credit/orders/${paid.orderId}`, 'The credit is on your account'],
      [`/dashboard/credit/orders/${paid.orderId}/receipt`, 'Prepaid credit'],
      [`/dashboard/credit/orders/${waiting.orderId}/receipt`, 'There is no receipt yet'],
    ] as const
    const page = await open('/docs', {}, reader)
    for (const [path, text] of pages) {
      await page.goto(gateway.url + path)
      await page.getByText(text).first().waitFor()
      await expectGoodLooks(page)
    }
  })

  test('a credit page that failed to load says why and can be loaded again', async () => {
    const order = await create(person, '10', 'bank_transfer')
    const parts = { '/dashboard/credit': 2, [`/dashboard/credit/orders/${order.orderId}`]: 1 }
    for (const [path, failing] of Object.entries(parts)) {
      const page = await open('/docs')
      let isDown = true
      await page.route('**/dashboard/api/a/*/orders**', (route) => (isDown ? route.abort() : route.continue()))
      await page.goto(gateway.url + path)
      const retries = page.getByRole('button', { name: 'Try again' })
      await until(async () => (await retries.count()) === failing, 'every part to say that it failed')
      expect(await page.getByText('The service could not be reached.').count()).toBe(failing)
      isDown = false
      for (let left = failing; left > 0; left--) {
        await retries.first().click()
        await until(async () => (await retries.count()) < left, 'one part to recover')
      }
      await page.getByText(order.reference).first().waitFor()
      await browser.closePages()
    }
  })

  test('an unknown or foreign order has a page that says so', async () => {
    const stranger = await signUpPerson(gateway)
    const order = await create(person, '10', 'bank_transfer')
    const page = await open(`/dashboard/credit/orders/${order.orderId}`, {}, stranger)
    await page.getByText('There is no such order.').waitFor()
  })

  test('every credit page prints without menu, on white, also from the dark scheme', async () => {
    const reader = await signUpPerson(gateway)
    const order = await create(reader, '60', 'bank_transfer')
    await pay(order)
    const page = await open(`/dashboard/credit/orders/${order.orderId}/receipt`, { colorScheme: 'dark' }, reader)
    await page.getByText('Prepaid credit').waitFor()
    expect(await schemeOf(page)).toBe('dark')
    await page.emulateMedia({ media: 'print' })
    await until(async () => (await schemeOf(page)) === 'light', 'the sheet to turn white')
    expect(await page.getByRole('navigation').count()).toBe(0)
    expect(await page.getByRole('button', { name: 'Print' }).count()).toBe(0)
    await page.getByText(order.reference).waitFor()
    await page.emulateMedia({ media: 'screen' })
    await until(async () => (await schemeOf(page)) === 'dark', 'the screen to turn dark again')
  })
})

function open(
  path: string,
  look: { width?: number; colorScheme?: 'light' | 'dark' } = {},
  who = person,
): Promise<Page> {
  return browser.open(path, { url: gateway.url, cookie: who.cookie, ...look })
}

function schemeOf(page: Page): Promise<string | undefined> {
  return page.evaluate(() => document.documentElement.dataset.mantineColorScheme)
}

async function create(who: Person, amountUsd: string, method: OrderBody['method']): Promise<OrderBody> {
  const answer = await who.json('POST', '/dashboard/api/a/:accountId/orders', { amountUsd, method })
  expect(answer.status).toBe(200)
  return answer.body as OrderBody
}

async function pay({ orderId, amountUsd }: OrderBody, source: PaymentSource = 'bank'): Promise<void> {
  await gateway.gateway.deps.dashboard.orders.confirmPayment({
    source,
    externalId: crypto.randomUUID(),
    orderId,
    amountCents: Number(amountUsd) * 100,
    currency: 'USD',
    actor: ACTOR,
  })
}
