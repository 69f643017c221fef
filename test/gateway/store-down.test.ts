/** Redis is unreachable: paid requests fail fast, open streams finish, and no charge is lost. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { freshDatabase, startRedis, type TestServer } from '@test/support/stores'
import { until } from '@test/support/until'
import { chatChunk, chatCompletion, chatStream, liveStream, usageOf } from '@test/support/upstream'

let redis: TestServer
let gateway: TestGateway
let customer: Customer

beforeAll(async () => {
  redis = await startRedis({ config: { appendonly: 'yes', appendfsync: 'always' } })
  gateway = await startGateway({
    respond: () => Response.json(chatCompletion('Hello')),
    redisUrl: redis.url,
    databaseUrl: await freshDatabase(),
    environment: { REDIS_COMMAND_TIMEOUT_MS: '3000' },
  })
  customer = await gateway.customer('1')
})
afterAll(async () => {
  await gateway.stop()
  await redis.stop()
})

const send = (stream: boolean) =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'svc/alpha', stream, messages: [{ role: 'user', content: 'Hi' }] }),
  })

test('without Redis a request is a 503 with retry-after and no call; an open stream finishes and is charged later', async () => {
  const live = liveStream()
  gateway.upstream.respond(() => live.response)
  live.write(`data: ${JSON.stringify(chatChunk({ role: 'assistant', content: 'first' }))}\n\n`)
  const stream = await send(true)
  const reader = (stream.body as ReadableStream<Uint8Array>).getReader()
  await reader.read()
  await redis.kill()
  const callsBefore = gateway.upstream.calls.length
  const refused = await send(false)
  expect(refused.status).toBe(503)
  expect(refused.headers.get('retry-after')).not.toBeNull()
  expect(await refused.json()).toMatchObject({ error: { type: 'server_error' } })
  expect(gateway.upstream.calls).toHaveLength(callsBefore)
  expect((await fetch(`${gateway.url}/readyz`)).status).toBe(503)
  expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200)

  for (const event of chatStream(['second'], usageOf(10, 7)).slice(1)) {
    live.write(`data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`)
  }
  live.close()
  let text = ''
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read())
    text += new TextDecoder().decode(chunk.value)
  expect(text).toEndWith('data: [DONE]\n\n')
  expect(gateway.gateway.deps.settler.pendingCount()).toBeGreaterThan(0)

  await redis.restart()
  await until(() => gateway.gateway.deps.settler.pendingCount() === 0, 'the kept settlements to be acknowledged')
  const balance = await gateway.balance(customer.accountId)
  expect([balance.spent as number, balance.held as number]).toEqual([10 * 1_000 + 7 * 2_000, 0])
  gateway.upstream.respond(() => Response.json(chatCompletion('Hello')))
  await until(async () => (await send(false)).status === 200, 'the next look at the store to find it well')
})

test('a hanging Redis counts as unreachable, and a reserve that may have happened is released', async () => {
  process.kill(redis.pid, 'SIGSTOP')
  const refused = await send(false)
  process.kill(redis.pid, 'SIGCONT')
  expect(refused.status).toBe(503)
  const balance = await until(async () => {
    const now = await gateway.balance(customer.accountId).catch(() => undefined)
    return now && now.held === 0 && gateway.gateway.deps.settler.pendingCount() === 0 && now
  }, 'the reserve that may have happened to be taken back')
  expect(balance.held as number).toBe(0)
})
