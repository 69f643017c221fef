/** Creates holds, and releases those that were not needed. */
import type { RateLimit } from '@/chat/rate-limits'
import { type LedgerDeps, MAX_LOADS } from '@/ledger/accounts/deps'
import { allowsAddress } from '@/ledger/address-lists'
import { allowedText, EVERYTHING, parseAllowed } from '@/ledger/allowed'
import type { BudgetScope, BudgetWindow } from '@/ledger/budgets'
import type { DefaultLimits, Payer, Refusal, ReleaseOutcome, ReserveOutcome, ReserveRequest } from '@/ledger/outcomes'
import { SCRIPTS, type Script } from '@/ledger/scripts/scripts'
import { holdOf, namesOf } from '@/ledger/store/account-names'
import {
  amountText,
  integerOf,
  integerText,
  itemsOf,
  MAX_TTL_MS,
  nanoOf,
  type ReplyItem,
  wordOf,
} from '@/ledger/store/reply'
import { storeUnavailable } from '@/ledger/store/script-runner'
import { type Nano, ZERO_NANO } from '@/lib/money'

/** Holds credit for one request. One round trip, unless the account or the key must be loaded first. */
export function reserve(deps: LedgerDeps, request: ReserveRequest): Promise<ReserveOutcome> {
  return attempt(deps, request, holdOf(namesOf(request), request.holdId))
}

/** The refusal that a hold of this amount and one token would get now, if any. Creates no hold. */
export async function refusalOf(deps: LedgerDeps, payer: Payer, amount: Nano): Promise<Refusal | undefined> {
  const request = { ...payer, holdId: '', amount, inputCost: ZERO_NANO, tokens: 1, ttlMs: 1 }
  const outcome = await attempt(deps, request, namesOf(payer).holdPrefix)
  return outcome.kind === 'reserved' ? undefined : outcome
}

/** The number of items in the reply if the request used the key's latest secret. */
const LATEST_SECRET = 6

async function attempt(deps: LedgerDeps, request: ReserveRequest, hold: string): Promise<ReserveOutcome> {
  const { accountId, keyId, holdId } = request
  const own = namesOf(request)
  const { payer } = own
  const names = [own.meta, own.account, own.key, hold, own.deadlines]
  const args = [payer, holdId, numbersOf(request, deps.defaultLimits), allowedText(request.allowed ?? EVERYTHING)]
  if (request.secret !== undefined) args.push(String(request.secret))
  const believed = deps.addresses.get(keyId)
  if (believed && isAmong(request, believed)) putAddresses(args, believed)
  let script: Script = SCRIPTS.reserve
  for (let load = 0; load < MAX_LOADS; load++) {
    if (script === SCRIPTS.reserve && deps.budgeted.get(accountId)) {
      script = SCRIPTS.reserveInBudgets
      names.push(own.budgets)
    }
    const reply = itemsOf(await deps.runner.run(script, names, args))
    if (reply[0] === 'budgets') {
      deps.budgeted.set(accountId, true)
      continue
    }
    if (reply[0] === 'unknown_secret') {
      await deps.restorer.key({ accountId, keyId }, 'rebuild')
      continue
    }
    if (reply[0] === 'addresses_changed') {
      const addresses = wordOf(reply[1])
      deps.addresses.set(keyId, addresses)
      if (!isAmong(request, addresses)) return { kind: 'address_not_allowed' }
      putAddresses(args, addresses)
      continue
    }
    const outcome = readOutcome(reply, request)
    if (outcome.kind === 'unknown_account') {
      if ((await deps.restorer.payer({ accountId, keyId }, wordOf(reply[1] ?? ''))) === 'unknown') return outcome
    } else if (outcome.kind === 'unknown_key') {
      if ((await deps.restorer.key({ accountId, keyId }, 'load')) === 'unknown') return outcome
    } else {
      if (outcome.kind === 'reserved' && reply.length > LATEST_SECRET) deps.noteFormerSecret(request)
      return outcome
    }
  }
  throw storeUnavailable(new Error('the account or its key does not stay loaded'))
}

/** Whether the key's lists allow the request's address. False without an address. */
function isAmong({ from }: ReserveRequest, addresses: string): boolean {
  return addresses === '' || (from !== undefined && allowsAddress(addresses, from.clientAddress))
}

/** Sets the script's sixth argument to the checked address lists, if any. The fifth must then be set too. */
function putAddresses(args: string[], addresses: string): void {
  args[4] ??= '1'
  args.length = 5
  if (addresses !== '') args.push(addresses)
}

/** Releases a whole hold. If the hold is unknown, blocks its id. */
export async function release(deps: LedgerDeps, hold: Payer & { holdId: string }, how = ''): Promise<ReleaseOutcome> {
  const own = namesOf(hold)
  const names = [holdOf(own, hold.holdId), own.account, own.key, own.deadlines]
  const args = [own.payer, hold.holdId, how]
  if (!deps.budgeted.get(hold.accountId)) {
    const word = wordOf(await deps.runner.run(SCRIPTS.release, names, args))
    if (word !== 'budgets') return word as ReleaseOutcome
    deps.budgeted.set(hold.accountId, true)
  }
  names.push(own.budgets)
  return wordOf(await deps.runner.run(SCRIPTS.releaseInBudgets, names, args)) as ReleaseOutcome
}

/** Blocks a hold that expired without a charge or is unknown, as long as a gateway may still charge it. */
export function seal(deps: LedgerDeps, hold: Payer & { holdId: string }): Promise<ReleaseOutcome> {
  return release(deps, hold, 'seal')
}

/** All numbers of a reserve in one argument, which the script parses with one pattern. */
function numbersOf({ amount, inputCost, tokens, ttlMs }: ReserveRequest, limits: DefaultLimits): string {
  const size = `${amountText(amount, 'amount')} ${integerText(inputCost, 'input cost', 0, amount)}`
  const rest = `${integerText(tokens, 'tokens', 0, Number.MAX_SAFE_INTEGER)} ${integerText(ttlMs, 'time to live', 1, MAX_TTL_MS)}`
  return `${size} ${rest} ${limits.requestsPerMinute} ${limits.tokensPerMinute} ${limits.concurrency}`
}

function readOutcome(reply: ReplyItem[], request: ReserveRequest): ReserveOutcome {
  const [, second, third, fourth, fifth, sixth] = reply
  const kind = wordOf(reply[0]) as ReserveOutcome['kind']
  switch (kind) {
    case 'reserved': {
      const requests = limitLeft(integerOf(third), integerOf(fourth))
      const tokens = limitLeft(integerOf(fifth), integerOf(sixth))
      return { kind, available: nanoOf(second), limits: { requests, tokens } }
    }
    case 'exists':
      return { kind, state: wordOf(second) as Extract<ReserveOutcome, { kind: 'exists' }>['state'] }
    case 'key_inactive':
      return { kind, status: wordOf(second) as Extract<ReserveOutcome, { kind: 'key_inactive' }>['status'] }
    case 'models_changed':
      return { kind, allowed: parseAllowed(wordOf(second)) }
    case 'rate_limited': {
      const scope = wordOf(second) as Extract<ReserveOutcome, { kind: 'rate_limited' }>['scope']
      const limit = integerOf(third)
      const retryAfterMs = integerOf(fourth)
      const of = wordOf(fifth) as Extract<ReserveOutcome, { kind: 'rate_limited' }>['of']
      if (scope === 'concurrency') return { kind, scope, of, limit, retryAfterMs }
      const wanted = scope === 'requests' ? 1 : Math.min(request.tokens, limit)
      return { kind, scope, of, limits: { [scope]: limitRefused(limit, wanted, retryAfterMs) }, limit, retryAfterMs }
    }
    case 'budget_exceeded':
      return {
        kind,
        resetsAtMs: integerOf(second),
        remaining: nanoOf(third),
        held: nanoOf(fourth),
        needed: nanoOf(fifth),
        available: nanoOf(sixth),
      }
    case 'over_budget':
      return overBudget(reply)
    case 'insufficient':
      return { kind, available: nanoOf(second), held: nanoOf(third), needed: nanoOf(fourth) }
    default:
      return { kind }
  }
}

function overBudget(reply: ReplyItem[]): ReserveOutcome {
  const [limit, spent, held, remaining, needed, available] = reply.slice(4).map(nanoOf) as [
    Nano,
    Nano,
    Nano,
    Nano,
    Nano,
    Nano,
  ]
  const endsAtMs = integerOf(reply[3])
  return {
    kind: 'over_budget',
    scope: wordOf(reply[1]) as BudgetScope,
    window: wordOf(reply[2]) as BudgetWindow,
    resetsAtMs: endsAtMs < 0 ? undefined : endsAtMs,
    ...{ limit, spent, held, remaining, needed, available },
  }
}

const MINUTE_MS = 60_000

/** The state of a rate limit whose token bucket gains `limit` per minute until it is full, as in limits.lua. */
function limitLeft(limit: number, remaining: number): RateLimit {
  return { limit, remaining, resetMs: Math.ceil(((limit - remaining) * MINUTE_MS) / limit) }
}

/** The state of a token bucket that will hold `wanted` after `retryAfterMs`. A negative level counts as 0 remaining. */
function limitRefused(limit: number, wanted: number, retryAfterMs: number): RateLimit {
  const remaining = Math.max(Math.floor(wanted - (retryAfterMs * limit) / MINUTE_MS), 0)
  return { limit, remaining, resetMs: retryAfterMs + Math.ceil(((limit - wanted) * MINUTE_MS) / limit) }
}
