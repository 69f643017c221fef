/** The map from key hashes to keys, and the stored key states. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Bench, connect, createBench } from '@test/ledger/harness'
import { keyState } from '@test/ledger/memory-history'
import { randomId, sha256Hex } from '@/lib/ids'
import { nano } from '@/lib/money'

let bench: Bench

beforeAll(async () => {
  bench = createBench(await connect())
})
afterAll(() => bench.redis.disconnect())

test('a key hash is stored, found and deleted', async () => {
  const payer = { accountId: randomId('acct'), keyId: randomId('key') }
  const hash = sha256Hex(payer.keyId)
  expect(await bench.ledger.lookupKeyHash(hash)).toBeUndefined()
  await bench.ledger.rememberKeyHash(hash, payer)
  expect(await bench.ledger.lookupKeyHash(hash)).toEqual(payer)
  await bench.ledger.forgetKeyHash(hash)
  expect(await bench.ledger.lookupKeyHash(hash)).toBeUndefined()
})

test('a key returns the state that was set, with and without its own limits', async () => {
  const payer = await bench.fund(1_000)
  const none = {
    ...keyState(payer),
    open: 0,
    held: nano(0),
    spentThisMonth: nano(0),
    addressText: '',
    secrets: undefined,
  }
  expect(await bench.ledger.readKey(payer)).toEqual(none)
  const limits = { requestsPerMinute: 5, tokensPerMinute: 6, concurrency: 7, monthlyBudget: nano(0), expiresAtMs: 0 }
  await bench.ledger.setKeyState(keyState(payer, { ...limits, status: 'deactivated' }))
  expect(await bench.ledger.readKey(payer)).toEqual({ ...none, ...limits, status: 'deactivated' })
  await bench.ledger.setKeyState(keyState(payer))
  expect(await bench.ledger.readKey(payer)).toEqual(none)
})

test('a key state set before the first load still applies after it', async () => {
  const payer = await bench.fund(1_000)
  bench.history.setKey({ ...payer, status: 'deactivated', concurrency: 2 })
  await bench.ledger.setKeyState(keyState(payer, { status: 'deactivated', concurrency: 2 }))
  expect(await bench.ledger.readKey(payer)).toMatchObject({ status: 'deactivated', concurrency: 2, open: 0 })
})
