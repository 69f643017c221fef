/** Idempotency keys of the management API: a change happens once, its answer is repeated, and stored answers are encrypted. */
import { afterAll, beforeAll, beforeEach, expect, spyOn, test } from 'bun:test'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import { redisUrl } from '@test/support/stores'
import { chatCompletion } from '@test/support/upstream'
import { Redis } from 'ioredis'
import { BEHIND_A_PROXY, makeManagementKey, send } from './caller'

let gateway: TestGateway
let owner: Person
let manager: { id: string; key: string }

beforeAll(async () => {
  gateway = await startGateway({ respond: () => Response.json(chatCompletion('ok')), environment: BEHIND_A_PROXY })
})
afterAll(() => gateway.stop())

beforeEach(async () => {
  owner = await signUpPerson(gateway)
  manager = await makeManagementKey(owner)
})

const make = (name: string, body: unknown, key = manager.key) =>
  send(gateway, key, 'POST', '/v1/keys', body, { 'idempotency-key': name })
const codeOf = ({ body }: { body: unknown }) => (body as { error?: { code?: unknown } }).error?.code

async function namesOfKeys(): Promise<string[]> {
  const { body } = await send(gateway, manager.key, 'GET', '/v1/keys')
  return (body as { items: { name: string }[] }).items.map(({ name }) => name)
}

test('17: the same Idempotency-Key twice makes one key; with another body it is a 409', async () => {
  const first = await make('order-1', { name: 'robot', monthlyBudgetUsd: null })
  const again = await make('order-1', { name: 'robot', monthlyBudgetUsd: null })
  expect([first.status, again.status, again.body]).toEqual([200, 200, first.body])
  expect(again.headers.get('idempotent-replayed')).toBe('true')
  expect(again.headers.get('x-request-id')).toBe(first.headers.get('x-request-id'))
  const other = await make('order-1', { name: 'another', monthlyBudgetUsd: null })
  expect([other.status, codeOf(other)]).toEqual([409, 'idempotency_key_reused'])
  expect(await namesOfKeys()).toEqual(['robot'])
})

test('17: 50 concurrent requests with one Idempotency-Key make one key', async () => {
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => make('order-2', { name: 'robot', monthlyBudgetUsd: null })),
  )
  const made = answers.filter(({ status }) => status === 200)
  const texts = new Set(made.map(({ body }) => (body as { key: string }).key))
  expect(texts.size).toBe(1)
  for (const answer of answers.filter(({ status }) => status !== 200)) {
    expect([answer.status, codeOf(answer)]).toEqual([409, 'idempotency_key_in_use'])
    expect(answer.headers.get('retry-after')).toBe('1')
  }
  expect(await namesOfKeys()).toEqual(['robot'])
  expect((await make('order-2', { name: 'robot', monthlyBudgetUsd: null })).body).toEqual(made[0]?.body)
})

test('a refused change stores no answer for its Idempotency-Key', async () => {
  expect((await make('order-3', { name: '' })).status).toBe(400)
  expect((await make('order-3', { name: 'robot', monthlyBudgetUsd: 'much' })).status).toBe(400)
  expect((await make('order-3', { name: 'robot', monthlyBudgetUsd: null })).status).toBe(200)
  expect(await namesOfKeys()).toEqual(['robot'])
})

test('a failed change stores no answer: the same Idempotency-Key works after the failure', async () => {
  const failing = spyOn(gateway.gateway.deps.dashboard.apiKeys, 'create').mockImplementationOnce(() => {
    throw new Error('a fault')
  })
  const body = { name: 'robot', monthlyBudgetUsd: null }
  expect((await make('order-4', body)).status).toBe(500)
  failing.mockRestore()
  expect(await namesOfKeys()).toEqual([])
  const again = await make('order-4', body)
  expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, null])
  expect((await make('order-4', body)).body).toEqual(again.body)
  expect(await namesOfKeys()).toEqual(['robot'])
})

test.each(['', 'a b', 'x'.repeat(256)])('an invalid Idempotency-Key is refused: %j', async (name) => {
  const answer = await make(name, { name: 'robot', monthlyBudgetUsd: null })
  expect([answer.status, codeOf(answer)]).toEqual([400, 'invalid_idempotency_key'])
})

test('an Idempotency-Key belongs to one management key of one account', async () => {
  const second = await makeManagementKey(owner)
  const stranger = await makeManagementKey(await signUpPerson(gateway))
  const keys = [manager.key, second.key, stranger.key]
  const answers = await Promise.all(keys.map((key) => make('order-4', { name: 'robot', monthlyBudgetUsd: null }, key)))
  expect(new Set(answers.map(({ body }) => (body as { key: string }).key)).size).toBe(3)
})

test('an Idempotency-Key repeats the answer of its change, and is refused for another change', async () => {
  const { body } = await make('order-5', { name: 'robot', monthlyBudgetUsd: null })
  const { id } = (body as { item: { id: string } }).item
  const rotate = () =>
    send(gateway, manager.key, 'POST', `/v1/keys/${id}/rotate`, { overlap: '0' }, { 'idempotency-key': 'turn-1' })
  const [first, again] = [await rotate(), await rotate()]
  expect(again.body).toEqual(first.body)
  const elsewhere = await send(gateway, manager.key, 'DELETE', `/v1/keys/${id}`, undefined, {
    'idempotency-key': 'turn-1',
  })
  expect([elsewhere.status, codeOf(elsewhere)]).toEqual([409, 'idempotency_key_reused'])
})

test('a stored answer contains no readable key', async () => {
  const { body } = await make('order-6', { name: 'robot', monthlyBudgetUsd: null })
  const { key } = body as { key: string }
  const redis = new Redis(await redisUrl())
  const stored: string[] = []
  for (const name of await redis.keys(`idempotency:{${owner.viewer.accountId}}:claim:*`))
    stored.push(JSON.stringify(await redis.hgetall(name)))
  redis.disconnect()
  expect(stored.length).toBeGreaterThan(0)
  for (const secret of [key, key.slice(4, 30), manager.key, 'order-6']) expect(stored.join()).not.toContain(secret)
})
