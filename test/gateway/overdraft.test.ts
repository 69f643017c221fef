/** 1,000 concurrent requests with credit for exactly 10, at two gateway processes, cost exactly 10. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { addressOf, type GatewayProcess, spawnGateway } from '@test/boot/process'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { until } from '@test/support/until'
import { chatCompletion, usageOf } from '@test/support/upstream'
import { formatUsd, nano } from '@/lib/money'

/** Holds the accounts; the requests go to the two processes beside it. */
let bank: TestGateway
let processes: GatewayProcess[]
let addresses: string[]
let folder: string

beforeAll(async () => {
  bank = await startGateway({ respond: () => new Promise(() => {}) })
  folder = await mkdtemp(join(tmpdir(), 'catalog-'))
  const path = join(folder, 'catalog.json')
  await writeFile(path, bank.catalogText)
  const environment = {
    CATALOG: path,
    PORT: '0',
    REDIS_URL: bank.stores.redisUrl,
    DATABASE_URL: bank.stores.databaseUrl,
  }
  processes = [
    spawnGateway({ ...environment, REDIS_COMMAND_TIMEOUT_MS: '5000' }),
    spawnGateway({ ...environment, REDIS_COMMAND_TIMEOUT_MS: '5000' }),
  ]
  addresses = await Promise.all(processes.map(addressOf))
})

afterAll(async () => {
  for (const gateway of processes) gateway.kill('SIGTERM')
  await Promise.all(processes.map((gateway) => gateway.exited()))
  await bank.stop()
  await rm(folder, { recursive: true })
})

const REQUESTS = 1_000
const BODY = JSON.stringify({ model: 'svc/alpha', max_tokens: 1_000, messages: [{ role: 'user', content: 'Hi' }] })

test('an account with credit for exactly 10 requests gets 10 answers', async () => {
  const holdSize = await measureHold()
  const { accountId, key } = await bank.customer(formatUsd(nano(holdSize * 10 + Math.floor(holdSize / 2))))
  const release = Promise.withResolvers<void>()
  bank.upstream.calls.length = 0
  bank.upstream.respond(async () => {
    await release.promise
    return Response.json(chatCompletion('Hello', usageOf(10, 1_000)))
  })
  let refused = 0
  let lowest = Number.POSITIVE_INFINITY
  const answers = Array.from({ length: REQUESTS }, async (_, index) => {
    const status = await request(addresses[index % 2] as string, key)
    if (status === 402) refused++
    return status
  })
  await until(async () => {
    lowest = Math.min(lowest, (await bank.balance(accountId)).available)
    return refused === REQUESTS - 10
  }, '990 refusals')
  await until(() => bank.upstream.calls.length === 10, 'the provider to be asked')
  release.resolve()
  const statuses = await Promise.all(answers)
  expect(statuses.filter((status) => status === 200)).toHaveLength(10)
  expect(lowest).toBeGreaterThanOrEqual(0)
  expect(bank.upstream.calls).toHaveLength(10)
  const after = await bank.balance(accountId)
  expect([after.held as number, after.spent as number]).toEqual([0, 10 * (10 * 1_000 + 1_000 * 2_000)])
})

/** What one such request holds, seen from outside: the balance while it is open. */
async function measureHold(): Promise<number> {
  const { accountId, key } = await bank.customer('1')
  const release = Promise.withResolvers<void>()
  bank.upstream.respond(async () => {
    await release.promise
    return Response.json(chatCompletion('Hello'))
  })
  const answer = request(bank.url, key)
  const held = await until(async () => (await bank.balance(accountId)).held as number, 'the hold')
  release.resolve()
  await answer
  return held
}

async function request(url: string, key: string): Promise<number> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: BODY,
  })
  await response.arrayBuffer()
  return response.status
}
