/** Budgets of accounts, members and keys that are set, raised, lowered, granted and taken off, and keys that go to other members. */
import { expect } from 'bun:test'
import { OPERATOR } from '@/accounts/audit'
import { BUDGET_WINDOWS, type BudgetScope, windowNumbers } from '@/ledger/budgets'
import type { Ledger } from '@/ledger/ledger'
import { type Nano, nano } from '@/lib/money'
import type { ModelAccount, Window } from './account'
import { countedOf, grant, limitsOf, ownerOf, setLimit, transfer } from './budgets-model'
import type { Operation } from './operations'
import { accountOf, type Play, type World } from './world'

type BudgetOperation = Extract<Operation, { kind: 'budget' | 'grant' | 'hand_over' }>

/** Does it to both, and compares what is answered. */
export async function performBudget(world: World, play: Play, chosen: BudgetOperation): Promise<void> {
  const payer = play.payers[chosen.key]
  if (!payer) return
  const { accountId, keyId } = payer
  const account = accountOf(play, accountId)
  if (chosen.kind === 'hand_over') {
    const owner = play.members[chosen.to] ?? ''
    const { kind } = await world.fixture.apiKeys.transfer(keyId, accountId, owner, OPERATOR)
    expect(kind).toBe('updated')
    if (ownerOf(account, keyId) !== owner) play.seen.push('handed_over')
    return transfer(account, keyId, owner)
  }
  // A member's budget is that of whose the key is; of a key that is nobody's, it is the first one's.
  const member = ownerOf(account, keyId) || (play.members[0] ?? '')
  const named = { account: accountId, member, key: keyId }[chosen.scope] ?? ''
  if (chosen.kind === 'grant') return await performGrant(world, play, chosen, { accountId, named })
  await performLimit(world, play, chosen, { accountId, keyId, named })
}

const fieldOf = (scope: string, scopeId: string) => (scope === 'account' ? scope : `${scope}:${scopeId}`)

async function performLimit(
  world: World,
  play: Play,
  { client, scope, window, spare, isAbove }: Extract<BudgetOperation, { kind: 'budget' }>,
  { accountId, keyId, named }: { accountId: string; keyId: string; named: string },
): Promise<void> {
  const account = accountOf(play, accountId)
  const field = fieldOf(scope, named)
  const { spent, held } = countedOf(account, field)
  const base = isAbove ? Math.max(0, spent[window] + held) : 0
  const limit: Nano | null = spare === undefined ? null : nano(base + spare)
  if (scope === 'key' && window === 'month') {
    expect((await world.fixture.apiKeys.change(keyId, { monthlyBudget: limit })).kind).toBe('updated')
    if (limit === null) account.budgets.monthOfKey.delete(keyId)
    else account.budgets.monthOfKey.set(keyId, limit)
    return
  }
  const change = { accountId, scope, scopeId: named, limits: { [window]: limit }, by: OPERATOR }
  const { kind } = await world.budgetsOf(client).change(change)
  expect<string>(kind).toBe(setLimit(account, field, window, limit))
  play.seen.push(`budget_${kind}`)
}

/** To one of the limits that there are; if there is none, to what is named. */
async function performGrant(
  world: World,
  play: Play,
  { client, scope, window, which, amount }: Extract<BudgetOperation, { kind: 'grant' }>,
  { accountId, named }: { accountId: string; named: string },
): Promise<void> {
  const account = accountOf(play, accountId)
  const all = [...account.budgets.scopes.keys()].flatMap((field) => {
    return limitsOf(account, field).map(([one]) => ({ field, window: one }))
  })
  const to = all[which % Math.max(all.length, 1)] ?? { field: fieldOf(scope, named), window }
  await giveGrant(world, play, { client, accountId, amount }, to)
}

async function giveGrant(
  world: World,
  play: Play,
  { client, accountId, amount }: { client: number; accountId: string; amount: number },
  to: { field: string; window: Window },
): Promise<void> {
  const account = accountOf(play, accountId)
  const [ofScope = '', scopeId = accountId] = to.field.split(':')
  const given = {
    accountId,
    scope: ofScope as BudgetScope,
    scopeId,
    window: to.window,
    amount: nano(amount),
    by: OPERATOR,
  }
  const { kind } = await world.budgetsOf(client).grant(given, account.clock.now())
  expect<string>(kind).toBe(grant(account, to.field, to.window, amount))
  play.seen.push(`grant_${kind}`)
}

/** Sets a limit for a window of now, and grants much more. */
export async function limitAndGrant(
  world: World,
  play: Play,
  {
    client,
    key,
    scope,
    window,
  }: Pick<Extract<BudgetOperation, { kind: 'budget' }>, 'client' | 'key' | 'scope' | 'window'>,
): Promise<void> {
  await performBudget(world, play, { kind: 'budget', client, key, scope, window, spare: SMALL, isAbove: true })
  const { accountId, keyId } = play.payers[key] as Play['payers'][number]
  const member = ownerOf(accountOf(play, accountId), keyId) || (play.members[0] ?? '')
  const named = { account: accountId, member, key: keyId }[scope] ?? ''
  await giveGrant(world, play, { client, accountId, amount: LARGE }, { field: fieldOf(scope, named), window })
}

/** A limit that the smallest of common requests exceeds, and one that none does. */
const SMALL = 1_000
const LARGE = 2_000_000_000

/** What the ledger says of every budget of an account, and what the model says of it. */
export async function compareBudgets(ledger: Ledger, accountId: string, account: ModelAccount): Promise<void> {
  const now = await ledger.readBudgets(accountId)
  const nowMs = now?.nowMs ?? 0
  const numbers = windowNumbers(nowMs)
  const told = [...(now?.entries ?? [])].map(([field, { held, windows }]) => {
    const limits = BUDGET_WINDOWS.flatMap((window) => {
      const { limit, grantAt, grant: more } = windows[window]
      return limit === null ? [] : [[window, limit + (grantAt === numbers[window] ? more : 0)]]
    })
    const spent = Object.fromEntries(
      BUDGET_WINDOWS.map((window) => [window, windows[window].at >= numbers[window] ? windows[window].spent : 0]),
    )
    return [field, { held, limits, spent }] as const
  })
  const expected = [...account.budgets.scopes.keys()].map((field) => {
    return [field, { ...countedOf(account, field), limits: limitsOf(account, field) }] as const
  })
  expect(new Map<string, object>(told)).toEqual(new Map<string, object>(expected))
}
