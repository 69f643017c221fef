/** Import of bank statements: a preview changes nothing, a commit does what the preview showed, each line once. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { PreviewOutcome } from '@/console/administration/statements/preview'
import type { Order } from '@/console/orders/types'
import { assert } from '@/lib/assert'
import { adjustment, balanceOf, newDay, type Office, openOffice, pendingOrder } from './fixture'
import { camt } from './statements/camt/build'

let office: Office

beforeAll(async () => {
  office = await openOffice()
})
afterAll(() => office.stop())
beforeEach(() => newDay(office))

type Booking = { usd: string; text: string; currency?: string; day?: string; payer?: string }
type Previewed = Extract<PreviewOutcome, { kind: 'previewed' }>

let bookingCount = 0

/** A statement in which every booking differs from those of other tests. */
function statement(bookings: readonly Booking[]): string {
  const rows = bookings.map(({ usd, text, currency = 'USD', day = '2026-11-20', payer }) =>
    [day, usd, currency, text, payer ?? `Payer ${++bookingCount}`].join(','),
  )
  return ['Date,Amount,Currency,Reference,Counterparty', ...rows].join('\n')
}

async function preview(text: string, by = office.ada): Promise<Previewed> {
  const outcome = await office.administration.previewStatement(by, text, { dateOrder: 'detect', currency: undefined })
  assert(outcome.kind === 'previewed', JSON.stringify(outcome))
  return outcome
}

async function commit({ importId, digest }: Previewed, by = office.ada) {
  const outcome = await office.administration.commitStatement(by, { importId, digest, reason: 'November' })
  assert(outcome.kind === 'committed', outcome.kind)
  return outcome.lines.map((line) => line.result)
}

const verdictsOf = (previewed: Previewed) => previewed.lines.map((line) => line.verdict)

async function stateOf(order: Order): Promise<string | undefined> {
  return (await office.gateway.gateway.deps.dashboard.orders.get(order.orderId))?.state
}

describe('a preview', () => {
  test('a preview shows the effect of each line, and changes nothing', async () => {
    const [fits, differs, expired] = [
      await pendingOrder(office, 50),
      await pendingOrder(office, 60),
      await pendingOrder(office, 70),
    ]
    const { sql } = office.gateway.gateway.database
    await sql`UPDATE orders SET created_at = created_at - interval '1 day', expires_at = now() - interval '1 second'
      WHERE id = ${expired.orderId}`
    const previewed = await preview(
      statement([
        { usd: '50.00', text: `invoice ${fits.reference.toLowerCase().replaceAll('-', ' ')}` },
        { usd: '50.00', text: `second ${fits.reference}` },
        { usd: '59.99', text: differs.reference },
        { usd: '60.00', text: differs.reference, currency: 'EUR' },
        { usd: '70.00', text: expired.reference },
        { usd: '10.00', text: 'SVC-2222-2222' },
        { usd: '10.00', text: 'thank you' },
        { usd: '10.00', text: `${fits.reference} ${differs.reference}` },
        { usd: '-50.00', text: fits.reference },
      ]),
    )
    expect(verdictsOf(previewed)).toEqual([
      'credit',
      'second_for_order',
      'amount_differs',
      'amount_differs',
      'order_not_open',
      'unknown_reference',
      'no_reference',
      'several_references',
      'outgoing',
    ])
    expect(await stateOf(fits)).toBe('pending')
    expect(await balanceOf(office, fits.accountId)).toBe(0)
    const [row] = await sql`SELECT count(*)::int AS payments FROM payments`
    expect(row).toEqual({ payments: 0 })
  })

  test('a preview of a faulty statement stores nothing', async () => {
    const { sql } = office.gateway.gateway.database
    const [before] = await sql`SELECT count(*)::int AS imports FROM statement_imports`
    const options = { dateOrder: 'detect', currency: undefined } as const
    const outcome = await office.administration.previewStatement(office.ada, 'nothing', options)
    expect(outcome.kind).toBe('faulty')
    expect((await sql`SELECT count(*)::int AS imports FROM statement_imports`)[0]).toEqual(before)
  })
})

describe('a commit', () => {
  test('a commit credits matching lines and stores payments that do not match their order', async () => {
    const [fits, differs] = [await pendingOrder(office, 50), await pendingOrder(office, 60)]
    const previewed = await preview(
      statement([
        { usd: '50.00', text: fits.reference },
        { usd: '61.00', text: differs.reference, payer: 'Generous Ltd' },
        { usd: '10.00', text: 'thank you' },
      ]),
    )
    expect(await commit(previewed)).toEqual(['credited', 'kept'])
    expect(await balanceOf(office, fits.accountId)).toBe(50)
    expect(await stateOf(fits)).toBe('paid')
    expect(await stateOf(differs)).toBe('pending')
    const { orders } = office.gateway.gateway.deps.dashboard
    const waiting = await orders.payments({ orderId: differs.orderId })
    expect(waiting.items).toMatchObject([{ mismatch: 'overpaid', amountCents: 6_100, sender: 'Generous Ltd' }])
  })

  test('repeated and concurrent commits credit nothing again', async () => {
    const order = await pendingOrder(office, 80)
    const previewed = await preview(statement([{ usd: '80.00', text: order.reference }]))
    const outcomes = await Promise.all(Array.from({ length: 5 }, () => commit(previewed)))
    expect(outcomes).toEqual(Array(5).fill(['credited']))
    expect(await commit(previewed)).toEqual(['credited'])
    expect(await balanceOf(office, order.accountId)).toBe(80)
  })

  test('a statement that is uploaded again has only imported lines', async () => {
    const order = await pendingOrder(office, 90)
    const text = statement([{ usd: '90.00', text: order.reference }])
    await commit(await preview(text))
    const again = await preview(text, office.bob)
    expect(verdictsOf(again)).toEqual(['already_imported'])
    expect(await commit(again, office.bob)).toEqual([])
    expect(await balanceOf(office, order.accountId)).toBe(90)
  })

  test('two previews of one statement, both committed, credit once', async () => {
    const order = await pendingOrder(office, 95)
    const text = statement([{ usd: '95.00', text: order.reference }])
    const [one, other] = [await preview(text), await preview(text, office.bob)]
    const results = await Promise.all([commit(one), commit(other, office.bob)])
    expect(results.flat().sort()).toEqual(['credited', 'refused'])
    expect(await balanceOf(office, order.accountId)).toBe(95)
  })

  test('an overlapping statement only credits new lines', async () => {
    const [one, two] = [await pendingOrder(office, 41), await pendingOrder(office, 42)]
    const shared = { usd: '41.00', text: one.reference, payer: 'Same' }
    await commit(await preview(statement([shared])))
    const later = await preview(statement([shared, { usd: '42.00', text: two.reference }]))
    expect(verdictsOf(later)).toEqual(['already_imported', 'credit'])
    expect(await commit(later)).toEqual(['credited'])
  })

  test('if the order was paid in another way after the preview, the payment is stored without credit', async () => {
    const order = await pendingOrder(office, 55)
    const previewed = await preview(statement([{ usd: '55.00', text: order.reference }]))
    const operation = { kind: 'order.confirm', orderId: order.orderId, amountCents: 5_500 } as const
    await office.administration.request(office.bob, { operation, reason: 'seen', key: crypto.randomUUID() })
    expect(await commit(previewed)).toEqual(['kept'])
    expect(await balanceOf(office, order.accountId)).toBe(55)
  })

  test('a commit by another person, or with another file hash, is refused', async () => {
    const order = await pendingOrder(office, 56)
    const previewed = await preview(statement([{ usd: '56.00', text: order.reference }]))
    const { importId, digest } = previewed
    const reason = 'November'
    expect(await office.administration.commitStatement(office.bob, { importId, digest, reason })).toEqual({
      kind: 'not_found',
    })
    const other = { importId, digest: '0'.repeat(64), reason }
    expect(await office.administration.commitStatement(office.ada, other)).toEqual({ kind: 'other_preview' })
    expect(await stateOf(order)).toBe('pending')
  })
})

describe('CAMT.053', () => {
  test('a booked credit is credited, and other entries are shown with the reason', async () => {
    const [fits, batched, differs] = [
      await pendingOrder(office, 50),
      await pendingOrder(office, 20),
      await pendingOrder(office, 60),
    ]
    const naming = (order: Order) => ({ payments: [{ text: `order ${order.reference}` }] })
    const batch = [{ usd: '20.00', text: batched.reference }, { usd: '1.00' }]
    const previewed = await preview(
      camt('08', [
        { amount: '50.00', bankReference: 'A1', ...naming(fits) },
        { amount: '21.00', bankReference: 'A2', payments: batch },
        { amount: '60.00', bankReference: 'A3', currency: 'EUR', ...naming(differs) },
        { amount: '60.00', bankReference: 'A4', status: 'PDNG', ...naming(differs) },
        { amount: '60.00', bankReference: 'A5', isReversal: true, ...naming(differs) },
        { amount: '60.00', bankReference: 'A6', isReversal: true, direction: 'DBIT', ...naming(differs) },
        { amount: '60.00', bankReference: 'A7', direction: 'DBIT', ...naming(differs) },
        { amount: '60.00', bankReference: 'A8', payments: [{ usd: '1.00', text: differs.reference }, {}] },
      ]),
    )
    expect(verdictsOf(previewed)).toEqual([
      'credit',
      'credit',
      'no_reference',
      'amount_differs',
      'not_booked',
      'reversal',
      'reversal',
      'outgoing',
      'unclear_batch',
    ])
    expect(previewed.lines.filter(({ verdict }) => verdict === 'reversal').map(({ order }) => order?.orderId)).toEqual([
      differs.orderId,
      differs.orderId,
    ])
    expect(await commit(previewed)).toEqual(['credited', 'credited', 'kept'])
    expect(await balanceOf(office, fits.accountId)).toBe(50)
    expect(await balanceOf(office, batched.accountId)).toBe(20)
    expect(await stateOf(differs)).toBe('pending')
  })

  test('an entry that is in the file twice, or was imported before, is credited once', async () => {
    const order = await pendingOrder(office, 30)
    const entries = [{ amount: '30.00', bankReference: 'B1', payments: [{ text: order.reference }] }]
    const previewed = await preview(camt('02', entries, entries))
    expect(verdictsOf(previewed)).toEqual(['credit', 'already_imported'])
    expect(await commit(previewed)).toEqual(['credited'])
    expect(verdictsOf(await preview(camt('08', entries)))).toEqual(['already_imported'])
  })

  test.each(['csv first', 'camt first'])('an entry in both formats is credited once: %s', async (order) => {
    const ordered = await pendingOrder(office, 44)
    const csv = statement([{ usd: '44.00', text: `thanks ${ordered.reference}` }])
    const xml = camt('08', [{ amount: '44.00', bankReference: order, payments: [{ text: ordered.reference }] }])
    const [first, second] = order === 'csv first' ? [csv, xml] : [xml, csv]
    expect(await commit(await preview(first))).toEqual(['credited'])
    const again = await preview(second)
    expect(verdictsOf(again)).toEqual(['already_imported'])
    expect(await commit(again)).toEqual([])
    expect(await balanceOf(office, ordered.accountId)).toBe(44)
  })

  test('a second payment for an order, found only in the other file format, waits for an administrator', async () => {
    const order = await pendingOrder(office, 45)
    await commit(await preview(statement([{ usd: '45.00', text: order.reference }])))
    const entry = { amount: '45.00', payments: [{ text: order.reference }] }
    const both = await preview(
      camt('08', [
        { ...entry, bankReference: 'C1' },
        { ...entry, bankReference: 'C2' },
      ]),
    )
    expect(verdictsOf(both)).toEqual(['already_imported', 'order_not_open'])
    expect(await commit(both)).toEqual(['kept'])
  })

  test('previews in both formats, committed at the same time, credit once', async () => {
    const order = await pendingOrder(office, 46)
    const csv = await preview(statement([{ usd: '46.00', text: order.reference }]))
    const xml = await preview(
      camt('02', [{ amount: '46.00', bankReference: 'D1', payments: [{ text: order.reference }] }]),
      office.bob,
    )
    expect(verdictsOf(xml)).toEqual(['credit'])
    const results = await Promise.all([commit(csv), commit(xml, office.bob)])
    expect(results.flat().sort()).toEqual(['credited', 'kept'])
    expect(await balanceOf(office, order.accountId)).toBe(46)
  })
})

describe('two people for large amounts', () => {
  test('the two-person rule applies to each line; a line above the limit is credited after the second approval', async () => {
    const [small, large] = [await pendingOrder(office, 100), await pendingOrder(office, 3_000)]
    const text = statement([
      { usd: '100.00', text: small.reference },
      { usd: '3000.00', text: large.reference },
    ])
    expect(await commit(await preview(text))).toEqual(['credited', 'awaiting_approval'])
    expect(verdictsOf(await preview(text, office.bob))).toEqual(['already_imported', 'already_imported'])
    const waiting = await office.administration.listApprovals({ status: 'pending' })
    const approvalId = waiting.items.find((item) => item.account?.accountId === large.accountId)?.approvalId ?? ''
    expect(await office.administration.decide(office.ada, { approvalId, decision: 'approve', note: '' })).toEqual({
      kind: 'own_request',
    })
    await office.administration.decide(office.bob, { approvalId, decision: 'approve', note: 'seen' })
    expect(await balanceOf(office, large.accountId)).toBe(3_000)
    expect(await stateOf(large)).toBe('paid')
  })

  test('a line whose approval was rejected can be imported again', async () => {
    const order = await pendingOrder(office, 2_000)
    const text = statement([{ usd: '2000.00', text: order.reference }])
    await commit(await preview(text))
    const waiting = await office.administration.listApprovals({ status: 'pending' })
    const approvalId = waiting.items.find((item) => item.account?.accountId === order.accountId)?.approvalId ?? ''
    await office.administration.decide(office.bob, { approvalId, decision: 'reject', note: 'not on my copy' })
    expect(verdictsOf(await preview(text))).toEqual(['credit'])
  })

  test('many small lines for one account count together with that day’s other adjustments', async () => {
    const { accountId } = await office.gateway.customer('0')
    await office.administration.request(office.ada, adjustment(accountId, 700))
    const [one, two] = [await pendingOrder(office, 200, accountId), await pendingOrder(office, 200, accountId)]
    const text = statement([
      { usd: '200.00', text: one.reference },
      { usd: '200.00', text: two.reference },
    ])
    expect(await commit(await preview(text))).toEqual(['credited', 'awaiting_approval'])
    expect(await balanceOf(office, accountId)).toBe(900)
  })
})

test('an uncommitted preview is deleted after a day', async () => {
  const previewed = await preview(statement([{ usd: '1.00', text: 'x' }]))
  const { sql } = office.gateway.gateway.database
  await sql`UPDATE statement_imports SET created_at = now() - interval '2 days' WHERE id = ${previewed.importId}`
  await preview(statement([{ usd: '1.00', text: 'y' }]))
  const rows = await sql`SELECT id FROM statement_imports WHERE id = ${previewed.importId}`
  expect(rows).toHaveLength(0)
})
