/** Reserve: every outcome, and that a refusal changes nothing. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Bench, connect, createBench, LIMITS, request, settlement, snapshot } from '@test/ledger/harness'
import { accountState, keyState } from '@test/ledger/memory-history'
import { setStored } from '@test/ledger/store/stored'
import { type Allowed, EVERYTHING } from '@/ledger/allowed'
import { accountName, keyName } from '@/ledger/store/names'
import { randomId } from '@/lib/ids'
import { nano } from '@/lib/money'

let bench: Bench

beforeAll(async () => {
  bench = createBench(await connect())
})
afterAll(() => bench.redis.disconnect())

const only = (allowedModels: string[]): Allowed => ({ allowedModels, allowedProviders: null })

/** A full bucket of which `used` were taken: as many as it gives back in its part of a minute. */
function limitOf(limit: number, used: number) {
  return { limit, remaining: limit - used, resetMs: Math.ceil((used / limit) * 60_000) }
}

describe('reserve', () => {
  test('reserve moves credit from available to held, and returns the remainder', async () => {
    const payer = await bench.fund(1_000)
    const outcome = await bench.ledger.reserve(request(payer, 400, { tokens: 50 }))
    expect(outcome).toEqual({
      kind: 'reserved',
      available: nano(600),
      limits: {
        requests: limitOf(LIMITS.requestsPerMinute, 1),
        tokens: limitOf(LIMITS.tokensPerMinute, 50),
      },
    })
    expect(await bench.ledger.readBalance(payer.accountId)).toEqual({
      available: nano(600),
      held: nano(400),
      spent: nano(0),
      spentThisMonth: nano(0),
      status: 'active',
      seq: 0,
    })
    expect(await bench.ledger.readKey(payer)).toMatchObject({ open: 1, held: nano(400), spentThisMonth: nano(0) })
  })

  test('a repeated reserve returns the hold’s state and reserves nothing more', async () => {
    const payer = await bench.fund(1_000)
    const [open, settled, released] = [request(payer, 100), request(payer, 100), request(payer, 100)]
    for (const hold of [open, settled, released]) await bench.ledger.reserve(hold)
    await bench.ledger.settle(settlement(settled, 10))
    await bench.ledger.release(released)
    const before = await snapshot(bench.redis, payer.accountId)
    expect(await bench.ledger.reserve(open)).toEqual({ kind: 'exists', state: 'open' })
    expect(await bench.ledger.reserve(settled)).toEqual({ kind: 'exists', state: 'settled' })
    expect(await bench.ledger.reserve(released)).toEqual({ kind: 'exists', state: 'released' })
    expect(Object.keys(await snapshot(bench.redis, payer.accountId))).toEqual(Object.keys(before))
    expect(await bench.ledger.readBalance(payer.accountId)).toMatchObject({ available: nano(890), held: nano(100) })
  })

  test('reserve refuses accounts and keys that Postgres does not have', async () => {
    const payer = await bench.fund(1_000)
    const nobody = { accountId: randomId('acct'), keyId: payer.keyId }
    expect(await bench.ledger.reserve(request(nobody, 1))).toEqual({ kind: 'unknown_account' })
    const keyless = { accountId: payer.accountId, keyId: randomId('key') }
    expect(await bench.ledger.reserve(request(keyless, 1))).toEqual({ kind: 'unknown_key' })
    expect(await bench.ledger.readBalance(nobody.accountId)).toBeUndefined()
    expect(await bench.ledger.readKey(keyless)).toBeUndefined()
  })

  test('reserve refuses a key of another account', async () => {
    const [rich, poor] = [await bench.fund(1_000), await bench.fund(0)]
    const outcome = await bench.ledger.reserve(request({ accountId: rich.accountId, keyId: poor.keyId }, 1))
    expect(outcome).toEqual({ kind: 'unknown_key' })
  })

  test.each(['deactivated', 'deleted'] as const)('reserve refuses a key that is %s, at once', async (status) => {
    const payer = await bench.fund(1_000)
    expect(await bench.ledger.reserve(request(payer, 1))).toMatchObject({ kind: 'reserved' })
    await bench.ledger.setKeyState(keyState(payer, { status }))
    expect(await bench.ledger.reserve(request(payer, 1))).toEqual({ kind: 'key_inactive', status })
    await bench.ledger.setKeyState(keyState(payer))
    expect(await bench.ledger.reserve(request(payer, 1))).toMatchObject({ kind: 'reserved' })
  })

  test('reserve refuses an expired key', async () => {
    const payer = await bench.fund(1_000, { expiresAtMs: Date.now() - 1 })
    expect(await bench.ledger.reserve(request(payer, 1))).toEqual({ kind: 'key_inactive', status: 'expired' })
    await bench.ledger.setKeyState(keyState(payer, { expiresAtMs: Date.now() + 60_000 }))
    expect(await bench.ledger.reserve(request(payer, 1))).toMatchObject({ kind: 'reserved' })
  })

  test('reserve accepts only plans whose models the key may call, in any order', async () => {
    const payer = await bench.fund(1_000, { allowedModels: ['svc/b', 'svc/a', 'svc/b'] })
    const models = ['svc/a', 'svc/b']
    const stale = { kind: 'models_changed', allowed: only(models) } as const
    expect(await bench.ledger.reserve(request(payer, 1))).toEqual(stale)
    expect(await bench.ledger.reserve(request(payer, 1, { allowed: only(['svc/a']) }))).toEqual(stale)
    const hold = request(payer, 1, { allowed: only(['svc/b', 'svc/a']) })
    expect(await bench.ledger.reserve({ ...hold, allowed: EVERYTHING })).toEqual(stale)
    expect(await bench.ledger.reserve(hold)).toMatchObject({ kind: 'reserved' })
    expect(await bench.ledger.readKey(payer)).toMatchObject({ open: 1, allowedModels: models })
    await bench.ledger.setKeyState(keyState(payer, { allowedModels: [] }))
    const nothing = { kind: 'models_changed', allowed: only([]) } as const
    expect(await bench.ledger.reserve(request(payer, 1, { allowed: only(models) }))).toEqual(nothing)
    await bench.ledger.setKeyState(keyState(payer))
    const everything = { kind: 'models_changed', allowed: EVERYTHING } as const
    expect(await bench.ledger.reserve(request(payer, 1, { allowed: only(models) }))).toEqual(everything)
    expect(await bench.ledger.reserve(request(payer, 1))).toMatchObject({ kind: 'reserved' })
  })

  test('reserve accepts only plans whose providers the key may use', async () => {
    const payer = await bench.fund(1_000, { allowedProviders: ['east', 'west', 'east'] })
    const stale = {
      kind: 'models_changed',
      allowed: { allowedModels: null, allowedProviders: ['east', 'west'] },
    } as const
    expect(await bench.ledger.reserve(request(payer, 1))).toEqual(stale)
    expect(await bench.ledger.reserve(request(payer, 1, { allowed: only(['east', 'west']) }))).toEqual(stale)
    const hold = request(payer, 1, { allowed: { allowedModels: null, allowedProviders: ['west', 'east'] } })
    expect(await bench.ledger.reserve(hold)).toMatchObject({ kind: 'reserved' })
    const both = { allowedModels: ['svc/a'], allowedProviders: [] }
    await bench.ledger.setKeyState(keyState(payer, both))
    expect(await bench.ledger.reserve(request(payer, 1, stale))).toEqual({ kind: 'models_changed', allowed: both })
    expect(await bench.ledger.readKey(payer)).toMatchObject({ open: 1, ...both })
    await bench.ledger.setKeyState(keyState(payer))
    const everything = { kind: 'models_changed', allowed: EVERYTHING } as const
    expect(await bench.ledger.reserve(request(payer, 1, { allowed: both }))).toEqual(everything)
  })

  test('reserve refuses a suspended account at once, for every key', async () => {
    const payer = await bench.fund(1_000)
    await bench.ledger.reserve(request(payer, 1))
    expect(await bench.ledger.setAccountState(accountState(payer.accountId, { status: 'suspended' }))).toBe('updated')
    expect(await bench.ledger.reserve(request(payer, 1))).toEqual({ kind: 'account_suspended' })
    expect(await bench.ledger.readBalance(payer.accountId)).toMatchObject({ status: 'suspended' })
    await bench.ledger.setAccountState(accountState(payer.accountId, { status: 'active' }))
    expect(await bench.ledger.reserve(request(payer, 1))).toMatchObject({ kind: 'reserved' })
  })

  test('the refusal of a reserve for missing credit has the needed, available and held amounts', async () => {
    const payer = await bench.fund(1_000)
    await bench.ledger.reserve(request(payer, 700))
    expect(await bench.ledger.reserve(request(payer, 301))).toEqual({
      kind: 'insufficient',
      available: nano(300),
      held: nano(700),
      needed: nano(301),
    })
    expect(await bench.ledger.reserve(request(payer, 300))).toMatchObject({ kind: 'reserved', available: nano(0) })
  })

  test('a free request is accepted for an account without credit, but not for one in debt', async () => {
    const payer = await bench.fund(0)
    expect(await bench.ledger.reserve(request(payer, 0))).toMatchObject({ kind: 'reserved' })
    await bench.ledger.credit({ accountId: payer.accountId, entryId: 'correction', amount: nano(-1) })
    expect(await bench.ledger.reserve(request(payer, 0))).toMatchObject({ kind: 'insufficient', available: nano(-1) })
  })

  test('a refused reserve changes nothing', async () => {
    const payer = await bench.fund(1_000, { requestsPerMinute: 2, tokensPerMinute: 1_000, monthlyBudget: nano(500) })
    await bench.ledger.reserve(request(payer, 200))
    const before = await snapshot(bench.redis, payer.accountId)
    expect(await bench.ledger.reserve(request(payer, 301))).toMatchObject({ kind: 'budget_exceeded' })
    expect(await bench.ledger.reserve(request(payer, 1, { tokens: 950 }))).toMatchObject({ scope: 'tokens' })
    await setStored(bench.redis, 'key', keyName(payer), { requestsLevel: 0 })
    expect(await bench.ledger.reserve(request(payer, 1))).toMatchObject({ scope: 'requests' })
    const after = await snapshot(bench.redis, payer.accountId)
    expect(after[accountName(payer.accountId)]).toBe(before[accountName(payer.accountId)])
    expect(Object.keys(after)).toEqual(Object.keys(before))
    await setStored(bench.redis, 'key', keyName(payer), { requestsLevel: 60_000 })
    expect(await bench.ledger.readKey(payer)).toMatchObject({ open: 1, held: nano(200) })
  })
})

describe('a trial reserve', () => {
  const ALL = ['svc/none']

  test('a trial reserve says whether the amount would be refused, without regard to models, and changes nothing', async () => {
    const payer = await bench.fund(1_000, { monthlyBudget: nano(500), allowedModels: ALL })
    const models = { allowed: only(ALL) }
    await bench.ledger.reserve(request(payer, 200, models))
    const before = await snapshot(bench.redis, payer.accountId)
    expect(await bench.ledger.refusalOf(payer, nano(300))).toBeUndefined()
    expect(await bench.ledger.refusalOf(payer, nano(301))).toMatchObject({ kind: 'budget_exceeded' })
    expect(await snapshot(bench.redis, payer.accountId)).toEqual(before)
    expect(await bench.ledger.reserve(request(payer, 300, models))).toMatchObject({ kind: 'reserved' })
  })

  test('a trial reserve gives the same answer as a real reserve', async () => {
    const payer = await bench.fund(1_000, { concurrency: 1 })
    await bench.ledger.reserve(request(payer, 200))
    expect(await bench.ledger.refusalOf(payer, nano(1))).toMatchObject({ scope: 'concurrency', of: 'key' })
    const nobody = { accountId: randomId('acct'), keyId: payer.keyId }
    expect(await bench.ledger.refusalOf(nobody, nano(1))).toEqual({ kind: 'unknown_account' })
  })
})
