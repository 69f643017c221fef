/** Random operations of the model test: each is done to the model and to the store, and their answers are compared. */
import { expect } from 'bun:test'
import { fc } from '@test/support/property'
import type { Payer } from '@/ledger/outcomes'
import { NO_KEY } from '@/ledger/store/names'
import { randomId } from '@/lib/ids'
import { nano } from '@/lib/money'
import { type Bench, FACTS, request } from './harness'
import { advance, credit, expireDue, flush, release, renew, reserve, rewind, settle } from './model'
import { type Named, type Operation, operation } from './random-operations'
import { endWithheld, withhold } from './withheld-model'
import { accountOf, advanceStore, compare, confirm, lapseStore, rewindStore, save, setKey, type World } from './world'

/** An operation, and how often it is sent: a repetition must be answered as the rules say, and change nothing. */
export const commands: fc.Arbitrary<fc.AsyncCommand<object, World>> = fc
  .tuple(operation, fc.constantFrom(1, 1, 1, 2))
  .map(([chosen, times]) => ({
    check: () => true,
    async run(_model: object, world: World) {
      const client = 'client' in chosen ? chosen.client : 0
      for (let time = 0; time < times; time++) await perform(world, chosen)
      await compare(world, client)
    },
    toString: () => `${times}×${JSON.stringify(chosen)}`,
  }))

async function perform(world: World, chosen: Operation): Promise<void> {
  const bench = ('client' in chosen ? world.benches[chosen.client] : undefined) ?? world.benches[0]
  switch (chosen.kind) {
    case 'reserve':
      return await performReserve(world, chosen)
    case 'renew': {
      const { payer, holdId } = holdOf(world, chosen)
      const { accountId } = payer
      const { isReached, ttlMs: ttl } = chosen
      const renewal = { accountId, holdId, ttlMs: ttl, cost: nano(chosen.cost), facts: FACTS }
      const expected = renew(accountOf(world, payer), holdId, ttl, chosen.cost, isReached)
      expect(await bench.ledger.renew([{ ...renewal, reached: isReached }])).toEqual([expected])
      return
    }
    case 'settle': {
      const { payer, holdId } = holdOf(world, chosen)
      const { force, freePerHour } = chosen
      const hangUp = freePerHour === undefined ? {} : { freePerHour }
      const settlement = { ...payer, holdId, cost: nano(chosen.cost), tokens: chosen.tokens, ...hangUp }
      const expected = settle(accountOf(world, payer), settlement, force)
      const outcome = await bench.ledger.settle({ ...settlement, facts: FACTS }, { force })
      expect(outcome).toMatchObject(expected)
      return
    }
    case 'release': {
      const { payer, holdId } = holdOf(world, chosen)
      const expected = release(accountOf(world, payer), payer, holdId)
      expect<string>(await bench.ledger.release({ ...payer, holdId })).toBe(expected)
      return
    }
    case 'lapse': {
      const { payer, holdId } = holdOf(world, chosen)
      const hold = accountOf(world, payer).holds.get(holdId)
      if (hold?.state === 'open') {
        hold.remainingMs = Number.NEGATIVE_INFINITY
        await lapseStore(world, payer, holdId, hold.amount)
      }
      return
    }
    case 'expire': {
      const expected = [...world.accounts.values()].flatMap((account) => [...expireDue(account)])
      const expired = await bench.ledger.expireDue(1_000)
      expect(new Map(expired.map((hold) => [hold.holdId, Number(hold.cost)]))).toEqual(new Map(expected))
      return
    }
    default:
      return await performRest(world, chosen)
  }
}

async function performReserve(world: World, chosen: Extract<Operation, { kind: 'reserve' }>): Promise<void> {
  // An id is sent again only while the store knows it: a gateway never uses one twice.
  const known = chosen.hold % 4 === 0 ? holdOf(world, chosen) : undefined
  const isKnown = known && accountOf(world, known.payer).holds.has(known.holdId)
  const { payer, holdId } = isKnown ? known : fresh(world, chosen.who)
  if (!isKnown) world.holdIds.push({ payer, holdId })
  const inputCost = nano(Math.floor((chosen.amount * chosen.inputShare) / 100))
  const { tokens, ttlMs } = chosen
  const asked = request(payer, chosen.amount, {
    holdId,
    inputCost,
    tokens,
    ttlMs,
    allowed: { allowedModels: plannedWith(world, payer, chosen), allowedProviders: null },
  })
  const bench = world.benches[chosen.client] ?? world.benches[0]
  const sentMs = performance.now()
  const outcome = await bench.ledger.reserve(asked)
  const possible = reserve(accountOf(world, payer), asked, sentMs, performance.now())
  const actual = possible.find(({ expected }) => matches(outcome, expected))
  expect(actual ? 'as expected' : { outcome, possible: possible.map(({ expected }) => expected) }).toBe('as expected')
  actual?.commit()
}

function plannedWith(world: World, payer: Payer, chosen: Extract<Operation, { kind: 'reserve' }>): string[] | null {
  if (chosen.plannedWith !== 'allowed') return chosen.plannedWith as string[] | null
  const allowed = accountOf(world, payer).keys.get(payer.keyId)?.allowedModels
  return allowed ? allowed.split(',') : null
}

async function performRest(world: World, chosen: Operation): Promise<void> {
  const bench = ('client' in chosen ? world.benches[chosen.client] : undefined) ?? world.benches[0]
  const { history } = bench
  switch (chosen.kind) {
    case 'advance':
      for (const account of world.accounts.values()) advance(account, chosen.ms)
      return await advanceStore(world, chosen.ms)
    case 'credit': {
      const payer = world.payers[chosen.who] as Payer
      const account = accountOf(world, payer)
      const entryId = `entry_${chosen.entry}`
      const amount = account.credits.get(entryId) ?? chosen.amount
      if (!account.credits.has(entryId)) history.addCredit(payer.accountId, entryId, amount)
      const expected = credit(account, entryId, amount)
      expect(await bench.ledger.credit({ accountId: payer.accountId, entryId, amount: nano(amount) })).toMatchObject(
        expected,
      )
      return
    }
    case 'withhold': {
      const { accountId } = world.payers[chosen.who] as Payer
      const [entryId, amount] = [randomId('entry'), nano(chosen.amount)]
      const expected = withhold(
        accountOf(world, { accountId, keyId: '' }),
        accountId,
        entryId,
        amount,
        chosen.mayOverdraw,
      )
      const asked = { accountId, entryId, amount, ttlMs: 86_400_000, allowNegative: chosen.mayOverdraw, debits: [] }
      expect(await bench.ledger.withhold(asked)).toMatchObject(expected)
      return
    }
    case 'end_withheld':
      return await endOldestWithheld(world, bench, chosen)
    case 'set_key':
      return await setKey(world, chosen.client, world.payers[chosen.who] as Payer, chosen.changes)
    case 'set_account': {
      const payer = world.payers[chosen.who] as Payer
      const account = Object.assign(accountOf(world, payer), chosen.changes)
      const { status, requestsPerMinute, tokensPerMinute, concurrency } = account
      const state = { status, requestsPerMinute, tokensPerMinute, concurrency }
      history.setAccount(payer.accountId, state)
      expect(await bench.ledger.setAccountState({ ...state, accountId: payer.accountId })).toBe('updated')
      return
    }
    case 'flush':
      for (const account of world.accounts.values()) flush(account, chosen.crash)
      return await history.flush(bench.redis, [...world.accounts.keys()], { crash: chosen.crash })
    case 'restart':
      return await confirm(world)
    case 'save':
      return await save(world)
    case 'rewind': {
      const old = await rewindStore(world)
      if (old) for (const [id, account] of world.accounts) rewind(account, old.get(id) ?? account)
      return
    }
    case 'forget_scripts':
      await bench.redis.script('FLUSH')
      return
    default:
      throw new Error(`nobody performs ${chosen.kind}`)
  }
}

/** As the history has it, by the one who withheld it or, where that one died, at its deadline. */
async function endOldestWithheld(
  world: World,
  bench: Bench,
  { who, isBooked, byExpiry }: Extract<Operation, { kind: 'end_withheld' }>,
): Promise<void> {
  const payer = { accountId: (world.payers[who] as Payer).accountId, keyId: NO_KEY }
  const account = accountOf(world, payer)
  const [entryId, hold] = [...account.holds].find(([, one]) => one.state === 'open' && one.payer.keyId === NO_KEY) ?? []
  if (entryId === undefined || !hold) return
  const amount = nano(hold.amount)
  if (isBooked) bench.history.addCredit(payer.accountId, entryId, -amount)
  endWithheld(account, entryId, isBooked)
  if (byExpiry) {
    await lapseStore(world, payer, entryId, amount)
    for (const one of world.accounts.values()) expireDue(one)
    await bench.ledger.expireDue(1_000)
  } else if (isBooked) await bench.ledger.credit({ accountId: payer.accountId, entryId, amount: nano(-amount) })
  else await bench.ledger.resolveWithheld({ accountId: payer.accountId, entryId, amount })
}

function holdOf(world: World, { hold, who: whose }: Named): { payer: Payer; holdId: string } {
  const known = world.holdIds[world.holdIds.length - 1 - (hold % 8)]
  if (known && hold % 50 !== 49) return known
  const unknown = fresh(world, whose)
  world.holdIds.push(unknown)
  return unknown
}

function fresh(world: World, whose: number): { payer: Payer; holdId: string } {
  const payer = world.payers[whose] as Payer
  return { payer, holdId: `hold_${payer.accountId.slice(-6)}_${world.holdIds.length}` }
}

function matches(outcome: object, expected: object): boolean {
  return Object.entries(expected).every(([name, value]) => outcome[name as keyof typeof outcome] === value)
}
