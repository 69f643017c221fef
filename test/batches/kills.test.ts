/** Gateways that are killed while they run a batch: each line ends once with at most one charge, and the records match the balance. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { addressOf, spawnGateway } from '@test/boot/process'
import { type CatalogFile, type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { until } from '@test/support/until'
import { chatCompletion, type UpstreamCall, usageOf } from '@test/support/upstream'
import { SHARED } from '@/limits/shared-resources'
import { begin, chatLine, clientOf, ended, resultLines } from './world'

const LINES = 160
const KILLS = 2
/** Longer than a busy machine keeps a gateway from renewing. */
const HOLD_TTL_MS = '10000'

let heir: TestGateway
let folder: string
const children: ReturnType<typeof spawnGateway>[] = []
/** How many more calls are answered, and the calls that wait for more. */
let allowed = 0
const waiting: (() => void)[] = []

beforeAll(async () => {
  heir = await startGateway({ respond, environment: { HOLD_TTL_MS }, catalog: waitsForever })
  folder = await mkdtemp(join(tmpdir(), 'catalog-'))
  await writeFile(join(folder, 'catalog.json'), heir.catalogText)
})
afterAll(async () => {
  for (const child of children) if (!child.hasExited()) child.kill('SIGKILL')
  await Promise.all(children.map((child) => child.exited()))
  await heir.stop()
  await rm(folder, { recursive: true })
})

/** A call that timed out would be sent again. */
function waitsForever({ providers }: CatalogFile): void {
  Object.assign(providers.provider1 ?? {}, { timeouts: { firstByteMs: 900_000, idleMs: 900_000, totalMs: 900_000 } })
}

async function respond({ body }: UpstreamCall): Promise<Response> {
  if (allowed > 0) allowed -= 1
  else await new Promise<void>((resolve) => waiting.push(resolve))
  const [message] = body.messages as { content: string }[]
  return Response.json(chatCompletion(`To ${message?.content}`, usageOf(10, 5)))
}

/** Answers all waiting calls and `more` calls after them. */
function allow(more: number): void {
  allowed = more
  for (const answer of waiting.splice(0)) answer()
}

/** A gateway of its own process; `crashAt` is where it dies by itself. */
async function mortal(crashAt?: string) {
  const child = spawnGateway({
    CATALOG: join(folder, 'catalog.json'),
    PORT: '0',
    REDIS_URL: heir.stores.redisUrl,
    DATABASE_URL: heir.stores.databaseUrl,
    HOLD_TTL_MS,
    ...(crashAt !== undefined && { CRASH_AT: crashAt }),
  })
  children.push(child)
  await addressOf(child)
  return child
}

/** Waits until a gateway and the heir run as many lines as they may. */
async function bothBusy(): Promise<void> {
  await until(() => waiting.length >= 2 * SHARED.batchLines.perAccount, 'both gateways to be busy')
}

/** Checks that every charged record is of another request, and that together they are what the balance moved. Returns them. */
async function chargedRecords({ accountId }: Customer, credit: number) {
  const balance = await until(async () => {
    const now = await heir.balance(accountId)
    return now.held === 0 && now
  }, 'the holds to end')
  const records = await until(async () => {
    const { sql } = heir.gateway.database
    const rows = await sql<{ requestId: string; cost: number }[]>`
      SELECT request_id AS "requestId", cost_nano::bigint AS cost FROM usage_records WHERE account_id = ${accountId}`
    return rows.length >= balance.seq && rows
  }, 'all records')
  const charged = records.filter(({ cost }) => cost > 0)
  expect(new Set(charged.map(({ requestId }) => requestId)).size).toBe(charged.length)
  expect(credit - balance.available).toBe(charged.reduce((total, { cost }) => total + cost, 0))
  return charged
}

test('if gateways are killed, each line has one result and at most one charge, and the records match the balance', async () => {
  const customer = await heir.customer('100')
  const client = clientOf(heir.url, customer)
  let child = await mortal()
  const lines = Array.from({ length: LINES }, (_, index) => chatLine(`line-${index}`))
  const made = await begin(client, lines)
  for (let kill = 0; kill < KILLS; kill++) {
    allow(LINES / (KILLS + 2))
    await bothBusy()
    child.kill('SIGKILL')
    await child.exited()
    allow(0)
    child = await mortal()
  }
  allow(Number.POSITIVE_INFINITY)
  const batch = await ended(client, made.id)
  child.kill('SIGKILL')
  await child.exited()
  const good = await resultLines(client, batch.output_file_id)
  const bad = await resultLines(client, batch.error_file_id)
  expect([...good, ...bad].map(({ custom_id }) => custom_id).toSorted()).toEqual(
    lines.map(({ custom_id }) => custom_id).toSorted(),
  )
  for (const { response } of bad) expect(response).toMatchObject({ body: { error: { code: 'batch_answer_lost' } } })
  expect(bad.length).toBeLessThanOrEqual(KILLS * SHARED.batchLines.perAccount)
  const charged = await chargedRecords(customer, 100_000_000_000)
  expect(charged).toHaveLength(LINES)
  expect(batch).toMatchObject({ svc: { cost_usd: charged.reduce((total, { cost }) => total + cost, 0) / 1e9 } })
})

test('a batch line whose gateway died between charge and result ends as lost, charged once and not sent again', async () => {
  const customer = await heir.customer('1')
  const client = clientOf(heir.url, customer)
  const callsBefore = heir.upstream.calls.length
  allow(0)
  const child = await mortal('settled')
  const lines = Array.from({ length: 40 }, (_, index) => chatLine(`lost-${index}`))
  const made = await begin(client, lines)
  await bothBusy()
  allow(Number.POSITIVE_INFINITY)
  await child.exited()
  const batch = await ended(client, made.id)
  const good = await resultLines(client, batch.output_file_id)
  const bad = await resultLines(client, batch.error_file_id)
  expect(good.length + bad.length).toBe(40)
  expect(bad.length).toBeGreaterThanOrEqual(1)
  for (const { response } of bad)
    expect(response).toMatchObject({ status_code: 409, body: { error: { code: 'batch_answer_lost' } } })
  const charged = await chargedRecords(customer, 1_000_000_000)
  expect(charged).toHaveLength(40)
  const lost = bad.map(({ response }) => response?.request_id)
  expect(charged.map(({ requestId }) => requestId)).toEqual(expect.arrayContaining(lost))
  for (const { custom_id } of bad) {
    const calls = heir.upstream.calls.slice(callsBefore).filter(({ text }) => text.includes(`"Question ${custom_id}"`))
    expect(calls).toHaveLength(1)
  }
})
