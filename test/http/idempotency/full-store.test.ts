/** Accounts with a cent each fill a small Redis with stored answers: other accounts are still answered, and nobody pays twice. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { readinessOf } from '@test/support/readiness'
import { freshDatabase, startRedis, type TestServer } from '@test/support/stores'
import { until } from '@test/support/until'
import { chatCompletion } from '@test/support/upstream'
import { Redis } from 'ioredis'
import { codeOf, send, settledBalance } from './repeated'

const NEIGHBOURS = 12
/** Together more than three times what the store has. */
const ANSWERS_EACH = 12
const AT_ONCE = 4
const LIMIT_BYTES = 32 * 1024 * 1024
const LONG = { ...chatCompletion('Hello'), padding: 'x'.repeat(900_000) }
const SHORT = { ...chatCompletion('Hello'), padding: 'x'.repeat(20_000) }

let redis: TestServer
let admin: Redis
let gateway: TestGateway
let victim: Customer
let neighbours: Customer[]
/** What others noticed while the store was filled. */
const noticed: string[] = []
let fullest = 0

beforeAll(async () => {
  redis = await startRedis({ config: { maxmemory: String(LIMIT_BYTES), 'maxmemory-policy': 'noeviction' } })
  admin = new Redis(redis.url)
  gateway = await startGateway({
    respond: ({ text }) => Response.json(text.includes('Short') ? SHORT : LONG),
    redisUrl: redis.url,
    databaseUrl: await freshDatabase(),
  })
  victim = await gateway.customer('1')
  neighbours = await Promise.all(Array.from({ length: NEIGHBOURS }, () => gateway.customer('0.01')))
  await Promise.all(neighbours.map(fill))
})
afterAll(async () => {
  await gateway.stop()
  admin.disconnect()
  await redis.stop()
})

/** Has as many long answers kept as there are requests, while somebody else goes on as ever. */
async function fill({ key }: Customer, neighbour: number): Promise<void> {
  for (let first = 0; first < ANSWERS_EACH; first += AT_ONCE) {
    const keys = Array.from({ length: AT_ONCE }, (_, index) => `${neighbour}-${first + index}`)
    const answers = keys.map((idempotencyKey) => send(gateway, { key, idempotencyKey }))
    for (const answer of await Promise.all(answers)) await answer.text()
    await look(`${neighbour}-${first}`)
  }
}

async function look(name: string): Promise<void> {
  const plain = await ask()
  const named = await send(gateway, { key: victim.key, idempotencyKey: name, prompt: 'Short' })
  for (const { url, status } of [plain, named]) if (status !== 200) noticed.push(`${status} ${url}`)
  await Promise.all([plain.text(), named.text()])
  const ready = await readinessOf(gateway.url)
  if (ready.status !== 200) noticed.push(`not ready: ${JSON.stringify(ready.reasons)}`)
  const used = Number(/used_memory:(\d+)/.exec(await admin.info('memory'))?.[1])
  fullest = Math.max(fullest, used / LIMIT_BYTES)
}

function ask(): Promise<Response> {
  const headers = { authorization: `Bearer ${victim.key}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ model: 'svc/alpha', messages: [{ role: 'user', content: 'Short' }], max_tokens: 10 })
  return fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers, body })
}

test('in a full Redis other accounts are answered, the gateway stays ready, and paid requests still work', () => {
  expect(noticed).toEqual([])
  expect(fullest).toBeLessThan(0.8)
})

test('an account that stores little keeps its answer when others fill the store', async () => {
  const { key } = await gateway.customer('1')
  let tries = 0
  // After such a burst nothing is kept for anybody, until the store has been looked at again.
  const wish = await until(async () => {
    const asked = { key, idempotencyKey: `mine-${tries++}`, prompt: 'Short' }
    await (await send(gateway, asked)).text()
    const again = await send(gateway, asked)
    await again.text()
    return again.headers.get('idempotent-replayed') === 'true' && asked
  }, 'room for an answer')
  await Promise.all(neighbours.slice(0, 3).map((neighbour, index) => fill(neighbour, NEIGHBOURS + index)))
  const again = await send(gateway, wish)
  expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true'])
})

test('a key whose answer was dropped is reported as charged, and no provider is called again', async () => {
  const [neighbour] = neighbours
  if (!neighbour) throw new Error('there is one')
  const before = await settledBalance(gateway, neighbour)
  const callsBefore = gateway.upstream.calls.length
  const codes: (string | undefined)[] = []
  for (let index = 0; index < ANSWERS_EACH; index++) {
    const answer = await send(gateway, { key: neighbour.key, idempotencyKey: `0-${index}` })
    codes.push(answer.status === 200 ? 'replayed' : await codeOf(answer))
  }
  // Which ones depends on who else was kept when.
  expect(codes).toContain('idempotency_answer_lost')
  expect(codes.filter((code) => code !== 'replayed' && code !== 'idempotency_answer_lost')).toEqual([])
  expect(gateway.upstream.calls).toHaveLength(callsBefore)
  expect(await settledBalance(gateway, neighbour)).toEqual(before)
})
