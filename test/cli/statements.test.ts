/** Bank statements on the command line: preview and import of files in any encoding, also during imports by pages of two gateways. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { balanceOf, newDay, type Office, openOffice, pendingOrder } from '@test/console/administration/fixture'
import { camt } from '@test/console/administration/statements/camt/build'
import type { TestGateway } from '@test/support/gateway'
import type { Order } from '@/console/orders/types'
import { assert } from '@/lib/assert'
import { run } from './run'

let office: Office
let twin: TestGateway
let folder: string

beforeAll(async () => {
  office = await openOffice()
  twin = await office.gateway.twin()
  folder = await mkdtemp(join(tmpdir(), 'statements-'))
})
afterAll(async () => {
  await twin.stop()
  await office.stop()
  await rm(folder, { recursive: true })
})

function command(words: string, file: string, ...more: string[]) {
  const { redisUrl, databaseUrl } = office.gateway.stores
  const args = ['statement', words, file, '--administrator', office.ada.email, ...more]
  return run(args, { REDIS_URL: redisUrl, DATABASE_URL: databaseUrl })
}

async function fileOf(content: string | Uint8Array): Promise<string> {
  const path = join(folder, crypto.randomUUID())
  await Bun.write(path, content)
  return path
}

const entryFor = ({ reference, amountCents }: Order) => ({
  ...{ amount: String(amountCents / 100), bankReference: `B-${reference}` },
  payments: [{ text: reference, payer: 'Müller' }],
})

test('statement preview and import read CAMT.053 in the encoding that the file declares, whatever its name', async () => {
  await newDay(office)
  const order = await pendingOrder(office, 20)
  const latin = camt('02', [entryFor(order)]).replace('encoding="UTF-8"', 'encoding="ISO-8859-1"')
  const file = await fileOf(Buffer.from(latin, 'latin1'))
  const previewed = await command('preview', file)
  const line = { line: 1, bookedOn: '2026-11-20', amount: '20.00', currency: 'USD', verdict: 'credit' }
  const texts = { order: order.reference, text: order.reference, counterparty: 'Müller' }
  expect(previewed.json).toEqual({ creditUsd: '20.00', lines: [{ ...line, ...texts }] })
  expect(await balanceOf(office, order.accountId)).toBe(0)
  const imported = await command('import', file, '--reason', 'November')
  expect(imported.json).toEqual({ creditUsd: '20.00', lines: [{ ...line, result: 'credited', ...texts }] })
  expect(await balanceOf(office, order.accountId)).toBe(20)
  const { sql } = office.gateway.gateway.database
  const [entry] = await sql`SELECT actor_email, request_id FROM audit_entries WHERE action = 'statement.commit'`
  expect(entry).toEqual({ actor_email: office.ada.email, request_id: expect.stringMatching(/^cmd_/) })
})

test('statement import leaves lines above the limit to a second administrator', async () => {
  await newDay(office)
  const order = await pendingOrder(office, 3_000)
  const file = await fileOf(camt('08', [entryFor(order)]))
  expect((await command('import', file, '--reason', 'November')).json).toMatchObject({
    lines: [{ result: 'awaiting_approval' }],
  })
  expect(await balanceOf(office, order.accountId)).toBe(0)
})

test('a statement imported at once by a page, another gateway and the command credits each entry once', async () => {
  await newDay(office)
  const orders = await Promise.all([21, 22, 23, 24, 25].map((usd) => pendingOrder(office, usd)))
  const text = camt('08', orders.map(entryFor))
  const file = await fileOf(text)
  const byPage = async () => {
    const previewed = await office.first.json('POST', '/dashboard/api/admin/statements/preview', {
      ...{ text, dateOrder: 'detect' },
    })
    const { importId, digest } = previewed.body as { importId: string; digest: string }
    const path = `/dashboard/api/admin/statements/${importId}/commit`
    expect((await office.first.json('POST', path, { digest, reason: 'November' })).status).toBe(200)
  }
  const byTwin = async () => {
    const { administration } = twin.gateway.deps.dashboard
    const previewed = await administration.previewStatement(office.bob, text, {
      ...{ dateOrder: 'detect', currency: undefined },
    })
    assert(previewed.kind === 'previewed', previewed.kind)
    const { importId, digest } = previewed
    await administration.commitStatement(office.bob, { importId, digest, reason: 'November' })
  }
  const byCommand = async () => expect((await command('import', file, '--reason', 'November')).code).toBe(0)
  await Promise.all([byPage(), byTwin(), byCommand()])
  for (const order of orders) expect(await balanceOf(office, order.accountId)).toBe(order.amountCents / 100)
  const { sql } = office.gateway.gateway.database
  const ids = orders.map(({ orderId }) => orderId)
  const payments =
    await sql`SELECT state, count(*)::int AS payments FROM payments WHERE order_id IN ${sql(ids)} GROUP BY state`
  expect([...payments]).toEqual([{ state: 'credited', payments: 5 }])
})

test('statement preview refuses people who are no administrators, missing files and faulty statements', async () => {
  const file = await fileOf(camt('08', []))
  expect(await command('preview', file)).toMatchObject({ code: 1, stderr: 'The statement has no bookings.\n' })
  expect(await command('preview', join(folder, 'none'))).toMatchObject({ code: 2 })
  const { redisUrl, databaseUrl } = office.gateway.stores
  const stores = { REDIS_URL: redisUrl, DATABASE_URL: databaseUrl }
  const stranger = await run(['statement', 'preview', file, '--administrator', 'eve@example.test'], stores)
  expect(stranger).toMatchObject({ code: 1, stderr: 'no administrator has the address eve@example.test\n' })
  const odd = await fileOf('<?xml version="1.0" encoding="x-none"?><a/>')
  expect((await command('preview', odd)).stderr).toContain('The encoding x-none is not known.')
})
