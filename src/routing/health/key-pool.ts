/**
 * Chooses a provider key by weight, the same for a whole conversation. Skips paused keys: a rate-limited key until the time that the
 * provider named, a refused key for minutes, with an alert. If one account may have caused a fault, only that account's calls skip the key.
 */
import type { Provider, ProviderKey } from '@/catalog/types'
import type { ProviderError } from '@/chat/provider-error'
import { type Clock, systemClock } from '@/lib/clock'
import { SHARED } from '@/limits/shared-resources'
import { draw, keyOf } from './key-choice'
import { createPerAccount, type PerAccount } from './per-account'
import { type IsGone, isSameUpstream } from './renewal'
import { providerKeyId } from './target-id'

export type KeyRest = { state: 'cooling' | 'out'; forMs: number }

/** A rate limit: the account that hit it, the pause that the provider requested, and the remaining limit that it reported. */
export type KeyLimit = { accountId: string; retryAfterMs: number | undefined; left: ProviderError['left'] }

export interface KeyPool {
  /**
   * A key that the account may use now and that is not in `avoided` (key ids); undefined if there is none. At every gateway, a
   * `conversation` keeps its key while usable, since whatever a provider caches or encrypts belongs to the key's account.
   */
  pickUsable(
    provider: Provider,
    avoided: ReadonlySet<string>,
    accountId: string,
    conversation?: Conversation,
  ): ProviderKey | undefined
  /** The last resort: of the keys not in `avoided`, the one whose pause for this account ends first. */
  pickResting(provider: Provider, avoided: ReadonlySet<string>, accountId: string): ProviderKey | undefined
  /**
   * The keys that calls of `provider` may use: those of the current catalogue, even if the request was planned with an earlier one. A
   * removed or moved provider keeps its old keys, so that the request can still be answered.
   */
  keysOf(provider: Provider): readonly ProviderKey[]
  /** Whether any key may be used now, by an account for which no key is paused separately. */
  hasUsable(provider: Provider): boolean
  /**
   * The provider limited the key's rate; without `retryAfterMs` the pause gets longer each time in a row. The key pauses for the account,
   * and for all (returns true) if the provider reports that nothing remains. If it reports no remaining limit, the key pauses for all after
   * {@link MIN_WITNESSES} accounts in a row hit the limit: a single account may send too many or too large requests.
   */
  cool(provider: Provider, key: ProviderKey, limit: KeyLimit): boolean
  /** The provider refused the key itself. */
  takeOut(provider: Provider, key: ProviderKey, status: number): void
  /** The provider refused the account's request, maybe because of the key. After {@link MIN_STRIKES} accounts in a row, the key pauses. */
  strike(provider: Provider, key: ProviderKey, status: number, accountId: string): void
  /** A call of the account that began at `startedMs` (monotonic) succeeded. */
  noteSuccess(provider: Provider, key: ProviderKey, startedMs: number, accountId: string): void
  /** Adopts a pause of this key from another gateway. Never shortens a pause. */
  adopt(id: string, rest: KeyRest): void
  renew(providers: ReadonlyMap<string, Provider>, isGone: IsGone): void
  /** Keys paused for all accounts, by id. */
  resting(): Map<string, KeyRest>
}

/** Returns an id of the conversation; called only with several keys to choose from. */
export type Conversation = () => string | undefined

type KeyPoolOptions = {
  /** A random number in [0, 1). */
  random?: () => number
  clock?: Clock
  /** Called when a key was paused, to inform the other gateways. */
  onRest?: (id: string, rest: KeyRest) => void
  /** Called when a refused key works again. */
  onRevival?: (id: string) => void
  /** Called when a provider refused a key: an operator should check the key. */
  onOut?: (provider: Provider, key: ProviderKey, status: number) => void
}

/** The first and the maximum pause of a key if the provider names none. */
export const FIRST_COOLING_MS = 2_000
export const MAX_COOLING_MS = 60_000
/** The pause of a refused key before one request tries it again. */
export const OUT_MS = 300_000
/** Accounts in a row that must be refused until the key counts as refused: so many don't send refused content by chance. */
export const MIN_STRIKES = 3
/** Accounts that must hit a limit until it counts for all: a second account shows that the first one is not the cause. */
const MIN_WITNESSES = SHARED.keyLimits.perProcess

type Rest = {
  state: 'cooling' | 'out'
  sinceMs: number
  untilMs: number
  coolings: number
}

type Rests = Map<string, Rest>

type Strikes = { sinceMs: number; accountIds: Set<string> }

type Pool = {
  /** The current catalogue's providers; undefined for the first catalogue. */
  providers: ReadonlyMap<string, Provider> | undefined
  rests: Rests
  own: PerAccount<Rest>
  strikes: Map<string, Strikes>
  /** Accounts that hit a rate limit. */
  limits: Map<string, Strikes>
  clock: Clock
  random: () => number
  options: KeyPoolOptions
}

/** Creates a pool in which every key may be used. */
export function createKeyPool(options: KeyPoolOptions = {}): KeyPool {
  const { random = Math.random, clock = systemClock } = options
  const pool: Pool = {
    providers: undefined,
    rests: new Map(),
    own: createPerAccount(),
    strikes: new Map(),
    limits: new Map(),
    clock,
    random,
    options,
  }
  return {
    pickUsable(provider, avoided, accountId, conversation) {
      const usable = usableKeys(pool, provider, accountId)
      const keys = avoided.size === 0 ? usable : without(usable, avoided)
      if (keys.length < 2) return keys[0]
      const name = conversation?.()
      return name === undefined ? draw(keys, random) : keyOf(provider, keys, name)
    },
    pickResting: (provider, avoided, accountId) =>
      leastResting(pool, provider, accountId, without(keysOf(pool, provider), avoided)),
    keysOf: (provider) => keysOf(pool, provider),
    hasUsable: (provider) => pool.rests.size === 0 || restedKeys(pool, provider).length > 0,
    cool: (provider, key, limit) => cool(pool, provider, key, limit),
    takeOut: (provider, key, status) => takeOut(pool, provider, key, status),
    strike: (provider, key, status, accountId) => strike(pool, provider, key, status, accountId),
    noteSuccess(provider, key, startedMs, accountId) {
      const own = pool.own.find(accountId)
      if (own || pool.rests.size + pool.strikes.size + pool.limits.size > 0)
        noteSuccess(pool, providerKeyId(provider, key), startedMs, own)
    },
    adopt(id, { state, forMs }) {
      const nowMs = clock.monotonic()
      const own = pool.rests.get(id)
      if (own && own.untilMs >= nowMs + forMs) return
      pool.rests.set(id, { state, sinceMs: nowMs, untilMs: nowMs + forMs, coolings: own?.coolings ?? 0 })
    },
    renew(providers, isGone) {
      pool.providers = providers
      pool.own = createPerAccount()
      for (const known of [pool.rests, pool.strikes, pool.limits])
        for (const id of known.keys()) if (isGone(id)) known.delete(id)
    },
    resting() {
      const nowMs = clock.monotonic()
      const live = [...pool.rests].filter(([, rest]) => rest.untilMs > nowMs)
      return new Map(live.map(([id, { state, untilMs }]) => [id, { state, forMs: untilMs - nowMs }]))
    },
  }
}

function without(keys: readonly ProviderKey[], avoided: ReadonlySet<string>): readonly ProviderKey[] {
  return keys.filter((key) => !avoided.has(key.id))
}

function keysOf({ providers }: Pool, provider: Provider): readonly ProviderKey[] {
  const now = providers?.get(provider.name)
  return now && isSameUpstream(now, provider) ? now.keys : provider.keys
}

function usableKeys(pool: Pool, provider: Provider, accountId: string): readonly ProviderKey[] {
  const keys = keysOf(pool, provider)
  const own = pool.own.find(accountId)
  return pool.rests.size === 0 && !own ? keys : restedKeys(pool, provider, own)
}

function restedKeys(pool: Pool, provider: Provider, own?: Rests): readonly ProviderKey[] {
  return keysOf(pool, provider).filter((key) => remainingMs(pool, provider, key, own) === 0)
}

function remainingMs(pool: Pool, provider: Provider, key: ProviderKey, own?: Rests): number {
  const id = providerKeyId(provider, key)
  return Math.max(restingMs(pool, pool.rests, id), own ? restingMs(pool, own, id) : 0)
}

function restingMs({ clock }: Pool, rests: Rests, id: string): number {
  const rest = rests.get(id)
  return rest ? Math.max(0, rest.untilMs - clock.monotonic()) : 0
}

function cool(pool: Pool, provider: Provider, key: ProviderKey, { accountId, retryAfterMs, left }: KeyLimit): boolean {
  const id = providerKeyId(provider, key)
  const isForAll = left === 'nothing' || (left === undefined && isMetBySeveral(pool, id, accountId))
  const rests = isForAll ? pool.rests : pool.own.of(accountId)
  const alreadyMs = restingMs(pool, rests, id)
  // Several concurrent calls may hit one limit. It counts once.
  if (alreadyMs > 0 && alreadyMs >= (retryAfterMs ?? 0)) return isForAll
  const coolings = rests.get(id)?.coolings ?? 0
  const usualMs = Math.min(MAX_COOLING_MS, FIRST_COOLING_MS * 2 ** Math.min(coolings, 10))
  const rest: KeyRest = { state: 'cooling', forMs: retryAfterMs ?? usualMs }
  coolDown(pool, rests, id, rest, coolings + 1)
  if (isForAll) pool.options.onRest?.(id, rest)
  return isForAll
}

function isMetBySeveral(pool: Pool, id: string, accountId: string): boolean {
  const { accountIds } = strikesOf(pool, pool.limits, id, MAX_COOLING_MS)
  if (accountIds.size < MIN_WITNESSES) accountIds.add(accountId)
  return accountIds.size >= MIN_WITNESSES
}

/** The accounts that hit a limit or a refusal of the key within `forMs`. The caller adds to this set. */
function strikesOf({ clock }: Pool, strikes: Map<string, Strikes>, id: string, forMs: number): Strikes {
  const nowMs = clock.monotonic()
  const known = strikes.get(id)
  if (known && nowMs - known.sinceMs < forMs) return known
  const first = { sinceMs: nowMs, accountIds: new Set<string>() }
  strikes.set(id, first)
  return first
}

function takeOut(pool: Pool, provider: Provider, key: ProviderKey, status: number): void {
  const id = providerKeyId(provider, key)
  const rest: KeyRest = { state: 'out', forMs: OUT_MS }
  coolDown(pool, pool.rests, id, rest, 0)
  pool.options.onRest?.(id, rest)
  pool.options.onOut?.(provider, key, status)
}

function strike(pool: Pool, provider: Provider, key: ProviderKey, status: number, accountId: string): void {
  const id = providerKeyId(provider, key)
  const { accountIds } = strikesOf(pool, pool.strikes, id, OUT_MS)
  accountIds.add(accountId)
  if (accountIds.size < MIN_STRIKES) return
  pool.strikes.delete(id)
  takeOut(pool, provider, key, status)
}

function coolDown({ clock }: Pool, rests: Rests, id: string, { state, forMs }: KeyRest, coolings: number): void {
  const sinceMs = clock.monotonic()
  rests.set(id, { state, sinceMs, untilMs: sinceMs + forMs, coolings })
}

/** Ends pauses that began before the successful call did. A call says nothing about a limit that was hit after its start. */
function noteSuccess(pool: Pool, id: string, startedMs: number, own: Rests | undefined): void {
  for (const known of [pool.strikes, pool.limits]) clear(known, id, startedMs)
  if (own) endRest(pool, own, id, startedMs)
  if (endRest(pool, pool.rests, id, startedMs)) pool.options.onRevival?.(id)
}

/** Ends a key's pause. Returns whether the key was paused until now. */
function endRest({ clock }: Pool, rests: Rests, id: string, startedMs: number): boolean {
  const rest = rests.get(id)
  if (!rest || startedMs < rest.sinceMs) return false
  const isOver = rest.untilMs <= clock.monotonic()
  if (!isOver && rest.state === 'cooling') return false
  rests.delete(id)
  return !isOver
}

function clear(strikes: Map<string, Strikes>, id: string, startedMs: number): void {
  const known = strikes.get(id)
  if (known && startedMs >= known.sinceMs) strikes.delete(id)
}

function leastResting(
  pool: Pool,
  provider: Provider,
  accountId: string,
  keys: readonly ProviderKey[],
): ProviderKey | undefined {
  const own = pool.own.find(accountId)
  const byRest = keys.map((key) => ({ key, restMs: remainingMs(pool, provider, key, own) }))
  return byRest.sort((left, right) => left.restMs - right.restMs)[0]?.key
}
