/** Keys that are rotated under load: no request fails, and the former text ends at the same moment on every gateway. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { connect, storeMs } from '@test/ledger/harness'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { until } from '@test/support/until'
import { chatCompletion, usageOf } from '@test/support/upstream'
import type { RedisClient } from '@/ledger/store/connection'

let gateway: TestGateway
let twin: TestGateway
let redis: RedisClient
let customer: Customer

beforeAll(async () => {
  gateway = await startGateway({ respond: () => Response.json(chatCompletion('Hello', usageOf(50, 50))) })
  twin = await gateway.twin()
  redis = await connect(gateway.stores.redisUrl)
})
beforeEach(async () => {
  customer = await gateway.customer('10')
})
afterAll(async () => {
  redis.disconnect()
  await gateway.stop()
})

async function rotate(overlapMs: number): Promise<{ key: string; endsAtMs: number }> {
  const outcome = await gateway.apiKeys.rotate(customer.keyId, overlapMs)
  if (outcome.kind !== 'rotated') throw new Error(outcome.kind)
  return { key: outcome.key, endsAtMs: outcome.formerEndsAt.getTime() }
}

async function send(at: TestGateway, key: string, path: string, body?: object): Promise<number> {
  const response = await fetch(at.url + path, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  await response.text()
  return response.status
}

const CHAT = { model: 'svc/alpha', messages: [{ role: 'user', content: 'Hi' }] }
const chat = (at: TestGateway, key: string) => send(at, key, '/v1/chat/completions', CHAT)

describe('a rotation under load', () => {
  test('a rotation under load fails no request, and both gateways refuse the former text on time', async () => {
    const asked = { old: 0, new: 0 }
    let isStopped = false
    const old = customer.key
    const load = [gateway, twin].map(async (at) => {
      while (!isStopped) {
        expect(await chat(at, old)).toBe(200)
        asked.old++
      }
    })
    await until(() => asked.old > 4)
    const { key } = await rotate(60_000)
    for (const at of [gateway, twin, gateway, twin]) {
      expect(await chat(at, key)).toBe(200)
      asked.new++
    }
    isStopped = true
    await Promise.all(load)

    // Again, with an overlap that passes while both are asked.
    const { key: latest, endsAtMs } = await rotate(1_500)
    const ended = new Set<TestGateway>()
    const ask = async (at: TestGateway) => {
      const sentAtMs = await storeMs(redis)
      const status = await chat(at, key)
      if (status === 200) {
        asked.new++
        expect(sentAtMs).toBeLessThan(endsAtMs)
      } else {
        expect(status).toBe(401)
        expect(await storeMs(redis)).toBeGreaterThanOrEqual(endsAtMs)
        ended.add(at)
      }
    }
    await until(async () => {
      await Promise.all([gateway, twin].map(ask))
      return ended.size === 2
    })
    for (const at of [gateway, twin]) {
      expect([await chat(at, old), await chat(at, key), await chat(at, latest)]).toEqual([401, 401, 200])
      asked.new++
    }
    const { sql } = gateway.gateway.database
    const records = async () => sql`SELECT DISTINCT key_id FROM usage_records WHERE account_id = ${customer.accountId}`
    const count = async () => {
      const [row] = await sql`SELECT count(*)::int FROM usage_records WHERE account_id = ${customer.accountId}`
      return row?.count === asked.old + asked.new
    }
    await until(count, 'all requests to be booked')
    expect((await records()).map((row) => row.key_id)).toEqual([customer.keyId])
  })
})

describe('a replaced key text', () => {
  const FREE: { path: string; body?: object }[] = [
    { path: '/v1/usage' },
    { path: '/v1/messages/count_tokens', body: CHAT },
    { path: '/v1/route', body: CHAT },
    { path: '/v1/responses/resp_none' },
  ]
  test.each(FREE)('a key text that was replaced is refused by the free route $path too', async ({ path, body }) => {
    const before = await send(twin, customer.key, path, body)
    expect(before).not.toBe(401)
    const { key } = await rotate(0)
    for (const at of [gateway, twin]) {
      expect(await send(at, customer.key, path, body)).toBe(401)
      expect(await send(at, key, path, body)).toBe(before)
    }
  })

  test('a request with a replaced key text is refused with that reason', async () => {
    await rotate(0)
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(CHAT),
    })
    expect(response.status).toBe(401)
    expect(await response.json()).toMatchObject({
      error: { code: 'invalid_api_key', message: 'This API key was replaced by a newer one.' },
    })
  })

  test('a stored answer is refused to the replaced key text, and sent to the new one', async () => {
    const named = async (key: string) => {
      const response = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'idempotency-key': 'once' },
        body: JSON.stringify(CHAT),
      })
      return { status: response.status, body: await response.text() }
    }
    const answer = await named(customer.key)
    expect(answer.status).toBe(200)
    const { key } = await rotate(0)
    expect((await named(customer.key)).status).toBe(401)
    expect(await named(key)).toEqual(answer)
  })
})
