/** The bundled scripts of paid requests give the same results as their source files, and contain nothing unused. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { type Bench, connect, createBench, passDeadline, request, settlement } from '@test/ledger/harness'
import { readStored, setStored } from '@test/ledger/store/stored'
import type { Payer } from '@/ledger/outcomes'
import { SCRIPTS, type Script } from '@/ledger/scripts/scripts'
import { accountName, holdName, keyName } from '@/ledger/store/names'
import { nano } from '@/lib/money'

const PAID = ['reserve', 'reserveInBudgets', 'settle', 'settleInBudgets'] as const
const OPEN = 1_000
/** A time in the future, as after a clock was set back. */
const FAR_MS = 9_000_000_000_000

let bench: Bench
beforeAll(async () => {
  bench = createBench(await connect())
})
afterAll(() => bench.redis.disconnect())

/** Runs `work` with the scripts as their files have them. */
async function asInFiles<T>(work: () => Promise<T>): Promise<T> {
  const before = PAID.map((name) => ({ ...SCRIPTS[name] }))
  for (const name of PAID) {
    const text = SCRIPTS[name].source
    Object.assign(SCRIPTS[name], { text, sha: createHash('sha1').update(text).digest('hex') })
  }
  try {
    return await work()
  } finally {
    for (const [index, name] of PAID.entries()) Object.assign(SCRIPTS[name], before[index])
  }
}

type Spoil = (payer: Payer) => Promise<unknown>
const account =
  (fields: Record<string, string | number>): Spoil =>
  ({ accountId }) =>
    setStored(bench.redis, 'account', accountName(accountId), fields)
const key =
  (fields: Record<string, string | number>): Spoil =>
  (payer) =>
    setStored(bench.redis, 'key', keyName(payer), fields)

/** What is unusual about the account or its key when the request comes. */
const SHAPES: Record<string, Spoil> = {
  'as usual': async () => undefined,
  'an account with limits of its own': account({ requestsPerMinute: 500, tokensPerMinute: 90_000, concurrency: 7 }),
  'an account without a request left': account({ requestsPerMinute: 1, requestsLevel: -60_000, levelsAtMs: FAR_MS }),
  'an account that has overrun': account({ overrun: 5 }),
  'an account that is suspended': account({ status: 'suspended' }),
  'an account with nothing left': account({ available: 3 }),
  'an account in a later month': account({ month: 999_912, spentMonth: 7 }),
  'an account with budgets': async ({ accountId }) => {
    const limits = { day: { limit: nano(10_000), grant: nano(0), grantAt: 0 } }
    bench.history.setBudgets(accountId, [{ scope: 'account', scopeId: accountId, limits }])
    await bench.ledger.reloadBudgets(accountId)
  },
  'a key with limits of its own': key({ requestsPerMinute: 50, tokensPerMinute: 9_000, concurrency: 3 }),
  'a key without a slot left': key({ concurrency: 1, open: 1 }),
  'a key without tokens left': key({ tokensPerMinute: 1, tokensLevel: -60_000, tokensAtMs: FAR_MS }),
  'a key with a monthly budget': key({ monthlyBudget: 400 }),
  'a key that is deactivated': key({ status: 'deactivated' }),
}

/** A request of a new account: every answer, and what the store has of it afterwards but times. */
async function play(spoil: Spoil): Promise<unknown> {
  const { ledger, redis } = bench
  const payer = await bench.fund(100_000)
  const first = request(payer, OPEN)
  await ledger.reserve(first)
  await spoil(payer)
  const second = request(payer, 600)
  const answers: unknown[] = [await ledger.reserve(second), await ledger.reserve(first)]
  const third = request(payer, 10)
  await ledger.reserve(third)
  await passDeadline(redis, third)
  await ledger.expireDue(1_000)
  for (const hold of [first, second, third, first]) answers.push(await ledger.settle(settlement(hold, 900)))
  const late = settlement(request(payer, 5), 40)
  answers.push(await ledger.settle(late, { force: true }), await ledger.settle(late, { force: true }))
  const holds = [first, second, third, late].map(({ holdId }) =>
    readStored(redis, 'hold', holdName(payer.accountId, holdId)),
  )
  const stored = [
    await readStored(redis, 'account', accountName(payer.accountId)),
    await readStored(redis, 'key', keyName(payer)),
    ...(await Promise.all(holds)),
  ]
  const ids = [payer.accountId, payer.keyId, ...[first, second, third, late].map(({ holdId }) => holdId)]
  const text = JSON.stringify([answers, stored], (name, value) =>
    /AtMs$|Level$|^(reset|retryAfter)Ms$|^remaining$|^epoch$/i.test(name) ? 0 : value,
  )
  return JSON.parse(ids.reduce((rest, id, index) => rest.replaceAll(id, `id ${index}`), text))
}

describe('the scripts of paid requests', () => {
  test.each(Object.entries(SHAPES))(
    'for %s, the bundled scripts of paid requests give the same result as their source files',
    async (_, spoil) => {
      const expected = await asInFiles(() => play(spoil))
      expect(await play(spoil)).toEqual(expected)
    },
  )

  test('the bundled scripts have no unused function, and create no table for an account, key or hold', () => {
    for (const name of PAID) {
      const { source, text }: Script = SCRIPTS[name]
      const code = text.replace(/--.*/g, '')
      const made = [...code.matchAll(/^local function (\w+)/gm)].map(([, one = '']) => one)
      expect(made.filter((one) => code.match(new RegExp(`\\b${one}\\b`, 'g'))?.length === 1)).toEqual([])
      expect(code).not.toMatch(/local (account|key) = read|\b(account|key|hold)\.\w/)
      expect(text.length).toBeLessThan(source.length)
    }
  })
})
