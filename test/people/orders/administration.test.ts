/** Administrators' operations on orders, payments and credit: permissions, and that a repeated request happens once. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { type Office, openOffice, pendingOrder } from '@test/console/administration/fixture'
import { dashboardRoutesOf } from '@test/console/http/routes'
import { type Person, signUpPerson } from '@test/support/person'
import { placeOf } from '@/people/operation'
import { CREDIT_ADMINISTRATION } from '@/people/orders/admin-operations'

const ADMIN = '/dashboard/api/admin'
const REASON = { reason: 'for a test' }
const CHANGES = CREDIT_ADMINISTRATION.filter(({ path }) => !path.startsWith('GET '))

let office: Office

beforeAll(async () => {
  office = await openOffice()
})
beforeEach(async () => {
  // Of their own for each test: a person's changes in a minute are limited.
  office.first = await signUpPerson(office.gateway, { role: 'admin' })
  office.second = await signUpPerson(office.gateway, { role: 'admin' })
})
afterAll(() => office.stop())

type Subject = { id: string; body: object }
/** `entry`: the action of its audit entry if that is not its name; null if it writes none. */
type Press = { prepare(): Promise<Subject>; by?: 'second'; entry?: string | null }

const key = () => crypto.randomUUID()
const post = async (by: Person, path: string, body: object) => (await by.json('POST', `${ADMIN}${path}`, body)).body

async function orderOf(usd: number): Promise<string> {
  return (await pendingOrder(office, usd)).orderId
}

async function paidOrder(): Promise<string> {
  const id = await orderOf(40)
  await post(office.first, `/orders/${id}/confirm`, { amount: '40', key: key(), ...REASON })
  return id
}

/** A payment that doesn't fit its order. */
async function unmatched(): Promise<{ paymentId: string; orderId: string }> {
  const orderId = await orderOf(60)
  await post(office.first, `/orders/${orderId}/confirm`, { amount: '59', key: key(), ...REASON })
  const { body } = await office.first.json('GET', `${ADMIN}/payments?orderId=${orderId}`)
  const [{ paymentId } = { paymentId: '' }] = (body as { items: { paymentId: string }[] }).items
  return { paymentId, orderId }
}

async function approval(): Promise<Subject> {
  const { accountId } = await office.gateway.customer('0')
  const body = { amount: '1001', allowNegative: false, key: key(), ...REASON }
  const asked = (await post(office.first, `/accounts/${accountId}/adjustments`, body)) as { approvalId: string }
  return { id: asked.approvalId, body: { note: '' } }
}

const statementOf = async () => {
  const { reference } = await pendingOrder(office, 33)
  return { text: `Date;Amount;Currency;Reference\n2026-11-20;33,00;USD;${reference}`, dateOrder: 'detect' }
}

const PRESSES: Record<(typeof CHANGES)[number]['name'], Press> = {
  'credit.adjust': {
    prepare: async () => ({
      id: (await office.gateway.customer('0')).accountId,
      body: { amount: '5', allowNegative: false, key: key(), ...REASON },
    }),
  },
  'payment.confirm': {
    prepare: async () => ({ id: await orderOf(40), body: { amount: '40', key: key(), ...REASON } }),
  },
  'order.refund': {
    prepare: async () => ({
      id: await paidOrder(),
      body: { amount: '15', allowNegative: false, key: key(), ...REASON },
    }),
  },
  'payment.credit': {
    async prepare() {
      const { paymentId, orderId } = await unmatched()
      return { id: paymentId, body: { orderId, amount: '59', key: key(), ...REASON } }
    },
    entry: 'payment.resolve',
  },
  'payment.dismiss': {
    prepare: async () => ({ id: (await unmatched()).paymentId, body: REASON }),
    entry: 'payment.resolve',
  },
  'statement.preview': { prepare: async () => ({ id: '', body: await statementOf() }), entry: null },
  'statement.commit': {
    async prepare() {
      const previewed = await post(office.first, '/statements/preview', await statementOf())
      const { importId, digest } = previewed as { importId: string; digest: string }
      return { id: importId, body: { digest, ...REASON } }
    },
  },
  'approval.executed': { prepare: approval, by: 'second' },
  'approval.rejected': { prepare: approval, by: 'second' },
  'approval.withdrawn': { prepare: approval },
}

function pathOf(path: (typeof CHANGES)[number]['path'], id: string): string {
  return ADMIN + placeOf({ path }).place.replace(/:\w+/, id)
}

test.each(CREDIT_ADMINISTRATION)('$name is a route of administration', ({ path }) => {
  const { method, place } = placeOf({ path })
  expect(dashboardRoutesOf(office.gateway)).toContainEqual({ method, path: ADMIN + place })
})

test.each(CHANGES)('$name, sent twenty times at once with one request key, happens once', async ({ name, path }) => {
  const { prepare, by = 'first', entry = name } = PRESSES[name] as Press
  const { id, body } = await prepare()
  const { sql } = office.gateway.gateway.database
  const [{ seq: before } = { seq: 0 }] = await sql`SELECT max(seq) AS seq FROM audit_entries`
  const headers = { 'idempotency-key': key(), 'content-type': 'application/json' }
  const send = async () => {
    const response = await office[by].fetch(pathOf(path, id), { method: 'POST', headers, body: JSON.stringify(body) })
    return { status: response.status, text: await response.text() }
  }
  const done = (await Promise.all(Array.from({ length: 20 }, send))).filter(({ status }) => status === 200)
  expect(new Set(done.map(({ text }) => text)).size).toBe(1)
  // After a lost answer, once more.
  expect(await send()).toEqual({ status: 200, text: done[0]?.text ?? '' })
  const entries = await sql<{ action: string }[]>`SELECT action FROM audit_entries WHERE seq > ${before} ORDER BY seq`
  expect(entries.map(({ action }) => action)).toEqual(entry === null ? [] : expect.arrayContaining([entry]))
  expect(new Set(entries.map(({ action }) => action)).size).toBe(entries.length)
})

test.each(CHANGES)('$name needs a recent proof if it moves money', async ({ name, path, needs }) => {
  const { body } = await (PRESSES[name] as Press).prepare()
  const person = await signUpPerson(office.gateway, { role: 'admin' })
  await office.gateway.gateway.database
    .sql`UPDATE sessions SET proved_at = proved_at - interval '6 minutes' WHERE user_id = ${person.viewer.userId}`
  const { status, body: answer } = await person.json('POST', pathOf(path, 'none'), body)
  const code = (answer as { error?: { code?: string } }).error?.code
  expect([status === 403, code === 'step_up_required']).toEqual(Array(2).fill(needs === 'movesMoney'))
})
