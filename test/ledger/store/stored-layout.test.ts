/** What lies in the store, letter by letter: gateways of two versions share it while they take turns in a rolling restart. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Bench, connect, createBench, FACTS, passDeadline, request, settlement } from '@test/ledger/harness'
import { shardOf } from '@/ledger/store/names'
import { nano } from '@/lib/money'

const HASH = 'f'.repeat(64)

let bench: Bench
beforeAll(async () => {
  bench = createBench(await connect())
})
afterAll(async () => {
  await bench.ledger.forgetKeyHash(HASH)
  bench.redis.disconnect()
})

/** Three requests of one account: one under way, one settled, one whose gateway died. */
async function threeRequests() {
  const { redis, ledger } = bench
  const payer = await bench.fund(10_000)
  const [open, settled, expired] = [request(payer, 400), request(payer, 300), request(payer, 200)]
  for (const hold of [open, settled, expired]) await ledger.reserve(hold)
  const progress = { accountId: payer.accountId, holdId: expired.holdId, ttlMs: 1_000, facts: FACTS }
  await ledger.renew([{ ...progress, cost: nano(60), reached: true }])
  await ledger.settle(settlement(settled, 100))
  await passDeadline(redis, expired)
  await ledger.expireDue(1_000)
  return { ...payer, tag: `{l${shardOf(payer.accountId)}}`, open: open.holdId, settled: settled.holdId }
}

test('every name and field is what it always was', async () => {
  const { accountId, keyId, tag, open, settled } = await threeRequests()
  const fieldsOf = async (name: string) => (await bench.redis.hkeys(`${tag}:${name}`)).sort().join(' ')
  expect(await fieldsOf('meta')).toBe('epoch identity shards')
  expect(await fieldsOf(`account:${accountId}`)).toBe(
    'available concurrency epoch held levelsAtMs month open overrun requestsLevel requestsPerMinute seq spent spentMonth ' +
      'status tokensLevel tokensPerMinute version',
  )
  expect(await fieldsOf(`key:${accountId}:${keyId}`)).toBe(
    'allowedModels concurrency epoch expiresAtMs held month monthlyBudget open requestsAtMs requestsLevel ' +
      'requestsPerMinute spentMonth status tokensAtMs tokensLevel tokensPerMinute version',
  )
  expect(await fieldsOf(`hold:${open}`)).toBe('amount cost inputCost payer reached record state tokens')
  expect(await fieldsOf(`hold:${settled}`)).toBe('cost payer state')
  const deadlines = await bench.redis.zrange(`${tag}:deadlines`, '0', '-1')
  expect(deadlines).toContain(`${accountId}:${keyId}:${open}:400`)
  expect(await bench.redis.scard(`${tag}:credited:${accountId}`)).toBe(1)
  const [, latest] = await bench.redis.lrange(`${tag}:recent:${accountId}`, 0, -1)
  expect(latest).toMatch(new RegExp(`^${settled}\\|\\d+\\|100\\|18\\|7\\|svc/alpha$`))
})

test('so is what a usage record looks like in its stream', async () => {
  const { accountId, tag, settled } = await threeRequests()
  const entries = await bench.redis.xrange(`${tag}:events`, '-', '+')
  const fields = entries.map(([, own]) => own).find((own) => own.includes(accountId) && own.includes(settled)) ?? []
  expect(fields.filter((_, index) => index % 2 === 0).join(' ')).toBe(
    'eventId holdId accountId keyId kind cost held seq atMs flags record',
  )
  expect(fields.at(-1)).toBe(JSON.stringify(FACTS))
})

test("and credit that is withheld, which is no key's", async () => {
  const { accountId, tag } = await threeRequests()
  const withheld = { accountId, entryId: `entry_${accountId}`, amount: nano(70) }
  await bench.ledger.withhold({ ...withheld, ttlMs: 60_000, allowNegative: false, debits: [] })
  const fields = await bench.redis.hkeys(`${tag}:hold:entry_${accountId}`)
  expect(fields.sort().join(' ')).toBe('amount cost inputCost payer reached record state tokens')
  expect(await bench.redis.zrange(`${tag}:deadlines`, '0', '-1')).toContain(`${accountId}:-:entry_${accountId}:70`)
})

test('and whose a key is', async () => {
  await bench.ledger.rememberKeyHash(HASH, { accountId: 'acct_1', keyId: 'key_1' })
  expect(await bench.redis.get(`keyhash:${HASH}`)).toBe('acct_1:key_1')
})
