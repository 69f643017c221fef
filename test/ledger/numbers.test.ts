/** Invalid numbers: refused in TypeScript and again in Lua, without a write. Also the Lua prelude's integers and calendar. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readStored } from '@test/ledger/store/stored'
import { fc } from '@test/support/property'
import type { ReserveRequest } from '@/ledger/outcomes'
import { SCRIPTS, type Script, script } from '@/ledger/scripts/scripts'
import {
  accountName,
  budgetsName,
  creditedName,
  deadlinesName,
  holdName,
  keyName,
  metaName,
  payerText,
  recordsName,
  shardOf,
} from '@/ledger/store/names'
import { factsText } from '@/ledger/usage-record'
import { randomId } from '@/lib/ids'
import { type Nano, nano } from '@/lib/money'
import { type Bench, connect, createBench, FACTS, request, settlement, snapshot } from './harness'
import { keyState } from './memory-history'

const NO_INTEGERS = [
  'nan',
  'NaN',
  'inf',
  '-inf',
  '1e999',
  '1e3',
  '1.5',
  '.5',
  '0x10',
  '+1',
  '',
  ' 1',
  '1 ',
  '1\n',
  '-',
  '--1',
  '1,0',
  '١',
]
const TOO_LARGE = [
  '9007199254740992',
  '9007199254740993',
  '99999999999999999',
  '999999999999999999999',
  '-9007199254740992',
]
const MALFORMED = [...NO_INTEGERS, ...TOO_LARGE]

let bench: Bench
let hold: ReserveRequest

beforeAll(async () => {
  bench = createBench(await connect())
  hold = request(await bench.fund(1_000), 400)
  await bench.ledger.reserve(hold)
})
afterAll(() => bench.redis.disconnect())

/** `packedAt`: the argument that holds all numbers, with blanks between; they are counted on from its place. */
type Call = {
  script: Script
  names: string[]
  args: (string | number)[]
  numbers: number[]
  packedAt?: number
  mayBeNegative?: boolean
}

/** The arguments of a call with one of its numbers replaced. */
function spoiled({ args, packedAt }: Call, index: number, bad: string): (string | number)[] {
  if (packedAt === undefined) return args.with(index, bad)
  const numbers = String(args[packedAt]).split(' ')
  return args.with(packedAt, numbers.with(index - packedAt, bad).join(' '))
}

/** A valid call of each script that takes numbers, and which of its arguments are numbers. */
async function calls(): Promise<Record<string, Call>> {
  const { accountId } = hold
  const shard = shardOf(accountId)
  const [meta, account, key] = [metaName(shard), accountName(accountId), keyName(hold)]
  const version = Number((await readStored(bench.redis, 'account', account))?.version)
  const stored = await readStored(bench.redis, 'key', key)
  const [month, keyVersion] = [Number(stored?.month), Number(stored?.version)]
  const [deadlines, records] = [deadlinesName(shard), recordsName(shard)]
  const [payer, fresh, facts] = [payerText(hold), randomId('hold'), factsText(FACTS, hold.holdId)]
  const own = holdName(accountId, hold.holdId)
  const state = ['active', 1, 1, 1, 1, 1, '']
  return {
    reserve: {
      script: SCRIPTS.reserve,
      names: [meta, account, key, holdName(accountId, fresh), deadlines],
      args: [payer, fresh, '10 1 5 1000 100 100 100', ''],
      ...{ numbers: [2, 3, 4, 5, 6, 7, 8], packedAt: 2 },
    },
    renew: { script: SCRIPTS.renew, names: [deadlines, own], args: [accountId, 1_000, 5, 1, facts], numbers: [1, 2] },
    settle: {
      script: SCRIPTS.settle,
      names: [own, account, key, deadlines, records],
      args: [payer, hold.holdId, '5 5', facts, ''],
      ...{ numbers: [2, 3], packedAt: 2 },
    },
    expire: {
      script: SCRIPTS.expire,
      names: [deadlines, records, meta, own, account, key, budgetsName(accountId)],
      args: [payer, hold.holdId, 400],
      numbers: [2],
    },
    credit: {
      ...{ script: SCRIPTS.credit, names: [account, creditedName(accountId)], args: ['entry', 5], numbers: [1] },
      mayBeNegative: true,
    },
    withhold: {
      script: SCRIPTS.withhold,
      names: [meta, account, holdName(accountId, fresh), deadlines, creditedName(accountId)],
      args: [payer, fresh, 10, 1_000, 0, 'entry_other', 5],
      numbers: [2, 3, 4, 6],
    },
    setKey: { script: SCRIPTS.setKey, names: [key], args: state, numbers: [1, 2, 3, 4, 5] },
    loadAccount: {
      ...{ script: SCRIPTS.loadAccount, names: [meta, account, creditedName(accountId), deadlines] },
      args: [accountId, 'rebuild', 0, 1, version ?? 0, 'active', 1_000, 0, 202601, 0, 0, 'epoch', 0],
      ...{ numbers: [2, 3, 4, 6, 7, 8, 9, 10, 12], mayBeNegative: true },
    },
    loadKey: {
      ...{ script: SCRIPTS.loadKey, names: [meta, key, deadlines] },
      args: [payer, 'rebuild', keyVersion ?? 0, month, 0, ...state, 202601, 0, 'epoch'],
      ...{ numbers: [4, 6, 7, 8, 9, 10, 12, 13], mayBeNegative: true },
    },
  }
}

describe('malformed numbers are refused, and nothing is written', () => {
  test.each(['reserve', 'renew', 'settle', 'expire', 'credit', 'withhold', 'setKey', 'loadAccount', 'loadKey'])(
    'the script %s refuses malformed numbers',
    async (name) => {
      const call = (await calls())[name] as Call
      const before = await snapshot(bench.redis, hold.accountId)
      for (const index of call.numbers) {
        const isOptional = name === 'setKey' || (name === 'loadKey' && index >= 6 && index <= 10)
        for (const bad of call.mayBeNegative ? MALFORMED : [...MALFORMED, '-1', '-0.1']) {
          if (isOptional && bad === '') continue
          const args = spoiled(call, index, bad)
          const outcome = await bench.deps.runner.run(call.script, call.names, args).catch((error: Error) => error)
          const text = outcome instanceof Error ? outcome.message : String(outcome)
          expect(`${index} ${JSON.stringify(bad)}: ${text}`).toContain(': LEDGER ')
        }
      }
      expect(await snapshot(bench.redis, hold.accountId)).toEqual(before)
    },
  )

  test('scripts refuse a Redis value that is no account, key or hold before they write', async () => {
    const { accountId } = hold
    const script = await calls()
    const names = { account: accountName(accountId), key: keyName(hold), hold: holdName(accountId, hold.holdId) }
    const affected = { account: ['reserve', 'settle', 'credit'], key: ['reserve', 'settle'], hold: ['settle'] }
    for (const thing of ['account', 'key', 'hold'] as const) {
      const name = names[thing]
      const good = await bench.redis.getBuffer(name)
      const spoilt = [Buffer.from(''), Buffer.from('active\0'), Buffer.from([9]), good?.subarray(0, -1) ?? '']
      for (const text of spoilt) {
        await bench.redis.set(name, text)
        const before = await snapshot(bench.redis, accountId)
        for (const one of affected[thing]) {
          const { script: lua, names, args } = script[one] as Call
          await expect(bench.deps.runner.run(lua, names, args)).rejects.toThrow()
        }
        expect(await snapshot(bench.redis, accountId)).toEqual(before)
      }
      await bench.redis.set(name, good ?? '')
    }
  })

  test('scripts refuse a malformed number in their arguments', async () => {
    const before = await snapshot(bench.redis, hold.accountId)
    const fresh = request(hold, 10)
    for (const bad of [Number.NaN, Infinity, -Infinity, -1, 0.5, 2 ** 53, 1e300]) {
      const amount = bad as Nano
      await expect(bench.ledger.reserve({ ...fresh, amount })).rejects.toThrow('out of range')
      await expect(bench.ledger.reserve({ ...fresh, inputCost: amount })).rejects.toThrow('out of range')
      await expect(bench.ledger.reserve({ ...fresh, tokens: bad })).rejects.toThrow('out of range')
      await expect(bench.ledger.reserve({ ...fresh, ttlMs: bad })).rejects.toThrow('out of range')
      await expect(bench.ledger.settle({ ...settlement(hold, 1), cost: amount })).rejects.toThrow('out of range')
      await expect(bench.ledger.settle({ ...settlement(hold, 1), tokens: bad })).rejects.toThrow('out of range')
      const renewal = { ...hold, cost: amount, facts: FACTS, reached: true }
      await expect(bench.ledger.renew([renewal])).rejects.toThrow('out of range')
      await expect(bench.ledger.setKeyState(keyState(hold, { concurrency: bad }))).rejects.toThrow('LEDGER')
      if (bad === -1) continue
      const credit = { accountId: hold.accountId, entryId: 'bad', amount }
      await expect(bench.ledger.credit(credit)).rejects.toThrow('out of range')
    }
    expect(await snapshot(bench.redis, hold.accountId)).toEqual(before)
  })

  test('text that is no id is never used in a Redis key', async () => {
    for (const bad of ['', 'a:b', '{l1}', 'a b', 'a\nb', 'ä', 'x'.repeat(65)]) {
      const reserve = async (changes: object) => bench.ledger.reserve({ ...request(hold, 1), ...changes })
      await expect(reserve({ accountId: bad })).rejects.toThrow('an id holds')
      await expect(reserve({ keyId: bad })).rejects.toThrow('an id holds')
      await expect(reserve({ holdId: bad })).rejects.toThrow('an id holds')
      await expect(bench.ledger.lookupKeyHash(bad)).rejects.toThrow('hexadecimal')
    }
  })

  test('details that Postgres would refuse can be neither settled nor renewed', async () => {
    const before = await snapshot(bench.redis, hold.accountId)
    const usages = [-1, 0.5, Number.NaN, 2 ** 53].map((output) => ({ usage: { ...FACTS.usage, output } }))
    for (const bad of [...usages, { durationMs: Number.NaN }, { firstTokenMs: Number.POSITIVE_INFINITY }]) {
      const facts = { ...FACTS, ...bad }
      const progress = { ...hold, ttlMs: 1_000, cost: nano(1), facts, reached: true }
      await expect(bench.ledger.settle(settlement(hold, 1, { facts }))).rejects.toThrow('a number that is none')
      await expect(bench.ledger.renew([progress])).rejects.toThrow('a number that is none')
    }
    expect(await snapshot(bench.redis, hold.accountId)).toEqual(before)
  })
})

describe('number functions of the Lua prelude', () => {
  const evaluate = (body: string, args: (string | number)[]) =>
    bench.deps.runner.run(script('probe', 'read', [], body), [], args)

  test('the prelude computes the month of any moment and the start of the next', async () => {
    const body = 'local month = monthOf(tonumber(ARGV[1]))\nreturn { month, decimal(startOfNextMonth(month)) }'
    const agrees = async (ms: number) => {
      const date = new Date(ms)
      const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()]
      expect(await evaluate(body, [ms])).toEqual([year * 100 + month + 1, String(Date.UTC(year, month + 1, 1))])
    }
    for (let year = 1999; year <= 2101; year++) {
      for (const month of year % 4 === 0 ? [0, 1, 2, 11] : [1, 2]) {
        await agrees(Date.UTC(year, month, 1))
        await agrees(Date.UTC(year, month + 1, 1) - 1)
      }
    }
    const moment = fc.integer({ min: 0, max: Date.UTC(9999, 11, 31) })
    await fc.assert(fc.asyncProperty(moment, agrees), { numRuns: 200 })
  })

  test('the prelude reads and writes every integer exactly, and refuses other text', async () => {
    const body = "return decimal(integer(ARGV[1], 'it', -MAX_INTEGER, MAX_INTEGER))"
    const safe = fc.oneof(fc.maxSafeInteger(), fc.constantFrom(0, 2 ** 53 - 1, 1 - 2 ** 53, 10 ** 15, -1))
    await fc.assert(
      fc.asyncProperty(safe, async (value) => {
        expect(await evaluate(body, [value])).toBe(String(value))
      }),
      { numRuns: 300 },
    )
    const text = fc.string().filter((value) => !/^-?\d{1,16}$/.test(value))
    await fc.assert(
      fc.asyncProperty(fc.oneof(text, fc.constantFrom(...MALFORMED)), async (value) => {
        await expect(evaluate(body, [value])).rejects.toThrow('LEDGER it')
      }),
      { numRuns: 300 },
    )
    expect(await evaluate('return decimal(-0) .. decimal(0 * -1)', [])).toBe('00')
  })
})
