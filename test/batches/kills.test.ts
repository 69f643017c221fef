/** Gateways that die while they run a batch: each line ends once and is charged at most once, and every record is in the balance. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { addressOf, spawnGateway } from '@test/boot/process'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { until } from '@test/support/until'
import { chatCompletion, type UpstreamCall, usageOf } from '@test/support/upstream'
import { SHARED } from '@/limits/shared-resources'
import { begin, chatLine, clientOf, ended, resultLines } from './world'

const LINES = 300
const KILLS = 2
/** Longer than a busy machine keeps a gateway from renewing. */
const HOLD_TTL_MS = '10000'

let heir: TestGateway
let folder: string
const children: ReturnType<typeof spawnGateway>[] = []
let gate: { open: number; opened: Promise<void> } | undefined

beforeAll(async () => {
  heir = await startGateway({ respond, environment: { HOLD_TTL_MS } })
  folder = await mkdtemp(join(tmpdir(), 'catalog-'))
  await writeFile(join(folder, 'catalog.json'), heir.catalogText)
})
afterAll(async () => {
  for (const child of children) if (!child.hasExited()) child.kill('SIGKILL')
  await Promise.all(children.map((child) => child.exited()))
  await heir.stop()
  await rm(folder, { recursive: true })
})

/** While the gate is closed, no call is answered. */
async function respond({ body }: UpstreamCall): Promise<Response> {
  if (gate) {
    gate.open++
    await gate.opened
  }
  const [message] = body.messages as { content: string }[]
  return Response.json(chatCompletion(`To ${message?.content}`, usageOf(10, 5)))
}

async function mortal() {
  const child = spawnGateway({
    CATALOG: join(folder, 'catalog.json'),
    PORT: '0',
    REDIS_URL: heir.stores.redisUrl,
    DATABASE_URL: heir.stores.databaseUrl,
    HOLD_TTL_MS,
  })
  children.push(child)
  await addressOf(child)
  return child
}

/** Kills the gateway while it and the heir run as many lines as they may. */
async function killWithinCalls(child: Awaited<ReturnType<typeof mortal>>): Promise<void> {
  const opening = Promise.withResolvers<void>()
  const closed = { open: 0, opened: opening.promise }
  gate = closed
  await until(() => closed.open >= 2 * SHARED.batchLines.perAccount, 'both gateways to be busy')
  child.kill('SIGKILL')
  await child.exited()
  gate = undefined
  opening.resolve()
}

test('over kills each line has one result and at most one charge, and the records are what the balance moved', async () => {
  const customer = await heir.customer('100')
  const client = clientOf(heir.url, customer)
  let child = await mortal()
  const lines = Array.from({ length: LINES }, (_, index) => chatLine(`line-${index}`))
  const made = await begin(client, lines)
  for (let kill = 0; kill < KILLS; kill++) {
    await until(async () => {
      const { completed = 0 } = (await client.batches.retrieve(made.id)).request_counts ?? {}
      return completed >= (kill * LINES) / (KILLS + 1)
    }, 'a part of the lines')
    await killWithinCalls(child)
    child = await mortal()
  }
  const batch = await ended(client, made.id)
  const good = await resultLines(client, batch.output_file_id)
  const bad = await resultLines(client, batch.error_file_id)
  expect([...good, ...bad].map(({ custom_id }) => custom_id).toSorted()).toEqual(
    lines.map(({ custom_id }) => custom_id).toSorted(),
  )
  for (const { response } of bad) expect(response).toMatchObject({ body: { error: { code: 'batch_answer_lost' } } })
  expect(bad.length).toBeLessThanOrEqual(KILLS * SHARED.batchLines.perAccount)
  const { available, held } = await until(async () => {
    const balance = await heir.balance(customer.accountId)
    return balance.held === 0 && balance
  }, 'the holds to end')
  expect(Number(held)).toBe(0)
  const records = await until(async () => {
    const { sql } = heir.gateway.database
    const rows = await sql<{ requestId: string; cost: number }[]>`
      SELECT request_id AS "requestId", cost_nano::bigint AS cost FROM usage_records WHERE account_id = ${customer.accountId}`
    return rows.length >= (await heir.balance(customer.accountId)).seq && rows
  }, 'all records')
  const charged = records.filter(({ cost }) => cost > 0)
  expect(new Set(charged.map(({ requestId }) => requestId)).size).toBe(charged.length)
  expect(charged).toHaveLength(LINES)
  const sum = charged.reduce((total, { cost }) => total + cost, 0)
  expect(100_000_000_000 - available).toBe(sum)
  expect(batch).toMatchObject({ svc: { cost_usd: sum / 1e9 } })
})
