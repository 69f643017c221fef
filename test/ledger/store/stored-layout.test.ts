/** The ledger's values in Redis, byte by byte, because two versions of the gateway share them during a rolling restart. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Bench, connect, createBench, FACTS, passDeadline, request, settlement } from '@test/ledger/harness'
import { fc } from '@test/support/property'
import { allowedText, EVERYTHING, parseAllowed } from '@/ledger/allowed'
import { LAYOUT_TEXTS, STORED_FIELDS } from '@/ledger/layout'
import { shardOf } from '@/ledger/store/names'
import { parseUsageRecord } from '@/ledger/usage-record'
import { nano } from '@/lib/money'
import { readStored } from './stored'

const HASH = 'f'.repeat(64)
const NO_LIMITS = { requestsPerMinute: null, tokensPerMinute: null, concurrency: null }
const FACTS_LIST =
  '["req_1","svc/alpha","auto-smart","provider1","alpha-2026","chat-completions","messages","usage",[],true,200,1,null,' +
  '1760000000000,12,345,null,[10,5,2,1,7,3]]'

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
  return {
    ...payer,
    tag: `{l${shardOf(payer.accountId)}}`,
    open: open.holdId,
    settled: settled.holdId,
    expired: expired.holdId,
  }
}

test('a key’s model list is stored as one text, different for different lists', () => {
  expect(allowedText(EVERYTHING)).toBe('')
  expect(allowedText({ allowedModels: ['svc/b', 'svc/a', 'svc/b'], allowedProviders: null })).toBe('["svc/a","svc/b"]')
  expect(allowedText({ allowedModels: null, allowedProviders: ['west', 'east'] })).toBe(
    '{"models":null,"providers":["east","west"]}',
  )
  const names = fc.option(fc.uniqueArray(fc.constantFrom('a', 'b', '[]', '"', '{}')).map((list) => list.sort()))
  const from = fc.constantFrom('account', 'member', 'key')
  const rule = fc.oneof(
    fc.record({ kind: fc.constantFrom('zero-retention' as const, 'no-training' as const), from }),
    fc.record({ kind: fc.constant('regions' as const), regions: fc.constantFrom(['eu'], ['eu', 'us']), from }),
  )
  const dataRules = fc.option(fc.array(rule, { minLength: 1, maxLength: 3 }), { nil: undefined })
  const allowed = fc.record({ allowedModels: names, allowedProviders: names, dataRules })
  fc.assert(
    fc.property(allowed, allowed, (one, other) => {
      expect(parseAllowed(allowedText(one))).toEqual(one)
      expect(allowedText(one) === allowedText(other)).toBe(Bun.deepEquals(one, other))
    }),
  )
})

test('account, key and hold have these stored fields, in this order', () => {
  expect(Object.values(STORED_FIELDS).map((fields) => Object.keys(fields).join(' '))).toEqual([
    'status epoch available held spent spentMonth month seq overrun version hasBudgets open requestsLevel tokensLevel ' +
      'levelsAtMs hangUpHour hangUps requestsPerMinute tokensPerMinute concurrency',
    'status epoch allowedModels owner held spentMonth month version open requestsLevel requestsAtMs tokensLevel tokensAtMs ' +
      'requestsPerMinute tokensPerMinute concurrency monthlyBudget expiresAtMs',
    'state payer record amount inputCost tokens cost reached',
  ])
  expect(LAYOUT_TEXTS.account).toContain("struct.unpack('<xssi7i7i7i7i4i7i7i4i4i4i7i7i7i4i4i7i7i7', text")
  expect(LAYOUT_TEXTS.key).toContain("struct.unpack('<xssssi7i7i4i4i4i7i7i7i7i7i7i7i7i7', text")
  expect(LAYOUT_TEXTS.hold).toContain("struct.unpack('<xsssi7i7i7i7i4', text")
})

test('account, key and hold are one string each: first the version byte, usual values omitted', async () => {
  const { accountId, keyId, tag, open, settled, expired } = await threeRequests()
  const formOf = async (name: string) => (await bench.redis.getBuffer(`${tag}:${name}`))?.at(0)
  expect(await formOf(`account:${accountId}`)).toBe(2)
  expect(await formOf(`key:${accountId}:${keyId}`)).toBe(2)
  expect(await formOf(`hold:${open}`)).toBe(2)
  expect(await formOf(`hold:${settled}`)).toBe(3)
  expect(await formOf(`hold:${expired}`)).toBe(1)
  expect(await bench.redis.pttl(`${tag}:hold:${open}`)).toBe(-1)
  expect(await bench.redis.pttl(`${tag}:hold:${settled}`)).toBeWithin(1, 600_001)
  await bench.ledger.setAccountState({ accountId, status: 'suspended', ...NO_LIMITS })
  expect(await bench.redis.get(`${tag}:account:${accountId}`)).toStartWith('\x01suspended\0')
  expect(LAYOUT_TEXTS.account).toContain("struct.unpack('<xsi7i7i7i7i4i7i4i4i7i7i7', text)")
  expect(LAYOUT_TEXTS.key).toContain("struct.unpack('<xssi7i7i4i4i4i7i7i7i7', text)")
  expect(LAYOUT_TEXTS.hold).toContain("struct.unpack('<xsi7i7i7', text)")
  expect(LAYOUT_TEXTS.hold).toContain("struct.unpack('<xsi7', text)")
})

test('Redis keys have these names for deadlines, credited entries and figures', async () => {
  const { accountId, keyId, tag, open } = await threeRequests()
  const deadlines = await bench.redis.zrange(`${tag}:deadlines`, '0', '-1')
  expect(deadlines).toContain(`${accountId}:${keyId}:${open}:400`)
  expect(await bench.redis.scard(`${tag}:credited:${accountId}`)).toBe(1)
  expect(await readStored(bench.redis, 'account', `${tag}:account:${accountId}`)).toMatchObject({
    ...{ available: '9440', held: '400', spent: '160', seq: '2', open: '1', overrun: '0', requestsPerMinute: '-1' },
  })
})

test('a usage record is one text in its stream', async () => {
  const { accountId, tag, settled } = await threeRequests()
  const entries = await bench.redis.xrange(`${tag}:events`, '-', '+')
  const isOwn = (fields: string[]) => fields.join(' ').includes(accountId) && fields.join(' ').includes(settled)
  const fields = entries.map(([, own]) => own).find(isOwn) ?? []
  expect(fields.filter((_, index) => index % 2 === 0).join(' ')).toBe('r')
  expect(fields.at(-1)).toEndWith(FACTS_LIST)
  expect(parseUsageRecord(fields)).toMatchObject({ holdId: settled, cost: nano(100), held: nano(300), facts: FACTS })
})

test('withheld credit is a hold without a key', async () => {
  const { accountId, tag } = await threeRequests()
  const withheld = { accountId, entryId: `entry_${accountId}`, amount: nano(70) }
  await bench.ledger.withhold({ ...withheld, ttlMs: 60_000, allowNegative: false, debits: [] })
  const hold = await readStored(bench.redis, 'hold', `${tag}:hold:entry_${accountId}`)
  expect(hold).toMatchObject({ state: 'open', payer: `${accountId}:-`, amount: '70', cost: '0', reached: '0' })
  expect(await bench.redis.zrange(`${tag}:deadlines`, '0', '-1')).toContain(`${accountId}:-:entry_${accountId}:70`)
})

test('Redis has the owner of each key', async () => {
  await bench.ledger.rememberKeyHash(HASH, { accountId: 'acct_1', keyId: 'key_1' })
  expect(await bench.redis.get(`keyhash:${HASH}`)).toBe('acct_1:key_1')
})
