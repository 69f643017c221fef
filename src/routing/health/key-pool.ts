/**
 * Chooses among the keys of a provider, each in proportion to its weight and one for all of a conversation, and leaves out the ones that have to rest: a key
 * that was rate-limited until the provider says so, a key that was refused for minutes and with an alert. A refusal that may as
 * well mean the request counts only once several accounts have met it.
 */
import type { Provider, ProviderKey } from '@/catalog/types'
import { type Clock, systemClock } from '@/lib/clock'
import { sha256Hex } from '@/lib/ids'
import { type IsGone, isSameUpstream } from './renewal'
import { providerKeyId } from './target-id'

export type KeyRest = { state: 'cooling' | 'out'; forMs: number }

export interface KeyPool {
  /**
   * A key that may be used now and is none of `avoided` (key ids); undefined where there is none. The same for each request of a
   * `conversation` as long as it may be used, at every gateway: what a provider remembers or encrypts is its account's alone.
   */
  pickUsable(provider: Provider, avoided: ReadonlySet<string>, conversation?: Conversation): ProviderKey | undefined
  /** The last resort: the key that rests least long, out of those that are none of `avoided`. */
  pickResting(provider: Provider, avoided: ReadonlySet<string>): ProviderKey | undefined
  /**
   * The keys that calls of `provider` may use: those of the present catalogue, also where the request was planned by an earlier
   * one. A provider that is gone, or stands at another address, has those that it had: they are what the request can be answered with.
   */
  keysOf(provider: Provider): readonly ProviderKey[]
  /** Whether any key may be used now. */
  hasUsable(provider: Provider): boolean
  /** The provider limited the key's rate; without `retryAfterMs` it rests longer each time in a row. */
  cool(provider: Provider, key: ProviderKey, retryAfterMs: number | undefined): void
  /** The provider refused the key itself. */
  takeOut(provider: Provider, key: ProviderKey, status: number): void
  /**
   * The provider refused a request of `accountId` without saying whether it meant the request or the key. The key is taken out
   * when {@link MIN_ACCUSERS} accounts in a row have met that, and no call with the key has worked in between.
   */
  accuse(provider: Provider, key: ProviderKey, status: number, accountId: string): void
  /** A call that began at `startedMs` (monotonic) worked. */
  noteSuccess(provider: Provider, key: ProviderKey, startedMs: number): void
  /** Another gateway says that the key of this id rests. Never shortens a rest. */
  adopt(id: string, rest: KeyRest): void
  /** From now on the keys are those of `providers`. */
  renew(providers: ReadonlyMap<string, Provider>, isGone: IsGone): void
  /** Keys that rest now, by id. */
  resting(): Map<string, KeyRest>
}

/** Names the conversation, where there is more than one key to choose from. */
export type Conversation = () => string | undefined

type KeyPoolOptions = {
  /** [0, 1). */
  random?: () => number
  clock?: Clock
  /** A key has to rest: told to the other gateways. */
  onRest?: (id: string, rest: KeyRest) => void
  /** A key that was out works again. */
  onRevival?: (id: string) => void
  /** A key was refused: an operator has to look. */
  onOut?: (provider: Provider, key: ProviderKey, status: number) => void
}

/** How long a key rests where the provider does not say, at first and at most. */
export const FIRST_COOLING_MS = 2_000
export const MAX_COOLING_MS = 60_000
/** How long a refused key stays out before one request tries it again. */
export const OUT_MS = 300_000
/** As many accounts don't come upon the same words by chance. */
export const MIN_ACCUSERS = 3

/** Hexadecimal digits of a digest that fit into a number exactly. */
const LOT_DIGITS = 12

type Rest = {
  state: 'cooling' | 'out'
  sinceMs: number
  untilMs: number
  /** Times in a row. */
  coolings: number
}

type Accusation = { sinceMs: number; accountIds: Set<string> }

type Pool = {
  /** Of the present catalogue; undefined while that is the first one. */
  providers: ReadonlyMap<string, Provider> | undefined
  rests: Map<string, Rest>
  accusations: Map<string, Accusation>
  clock: Clock
  random: () => number
  options: KeyPoolOptions
}

/** Creates a pool in which every key may be used. */
export function createKeyPool(options: KeyPoolOptions = {}): KeyPool {
  const { random = Math.random, clock = systemClock } = options
  const pool: Pool = { providers: undefined, rests: new Map(), accusations: new Map(), clock, random, options }
  return {
    pickUsable(provider, avoided, conversation) {
      const usable = usableKeys(pool, provider)
      const keys = avoided.size === 0 ? usable : usable.filter((key) => !avoided.has(key.id))
      if (keys.length < 2) return keys[0]
      const name = conversation?.()
      return name === undefined ? draw(keys, random) : keyOf(provider, keys, name)
    },
    pickResting: (provider, avoided) =>
      leastResting(
        pool,
        provider,
        keysOf(pool, provider).filter((key) => !avoided.has(key.id)),
      ),
    keysOf: (provider) => keysOf(pool, provider),
    hasUsable: (provider) =>
      pool.rests.size === 0 || keysOf(pool, provider).some((key) => remainingMs(pool, provider, key) === 0),
    cool: (provider, key, retryAfterMs) => cool(pool, provider, key, retryAfterMs),
    takeOut: (provider, key, status) => takeOut(pool, provider, key, status),
    accuse: (provider, key, status, accountId) => accuse(pool, provider, key, status, accountId),
    noteSuccess(provider, key, startedMs) {
      if (pool.rests.size + pool.accusations.size > 0) noteSuccess(pool, providerKeyId(provider, key), startedMs)
    },
    adopt(id, { state, forMs }) {
      const nowMs = clock.monotonic()
      const own = pool.rests.get(id)
      if (own && own.untilMs >= nowMs + forMs) return
      pool.rests.set(id, { state, sinceMs: nowMs, untilMs: nowMs + forMs, coolings: own?.coolings ?? 0 })
    },
    renew(providers, isGone) {
      pool.providers = providers
      for (const known of [pool.rests, pool.accusations])
        for (const id of known.keys()) if (isGone(id)) known.delete(id)
    },
    resting() {
      const nowMs = clock.monotonic()
      const live = [...pool.rests].filter(([, rest]) => rest.untilMs > nowMs)
      return new Map(live.map(([id, { state, untilMs }]) => [id, { state, forMs: untilMs - nowMs }]))
    },
  }
}

function keysOf({ providers }: Pool, provider: Provider): readonly ProviderKey[] {
  const now = providers?.get(provider.name)
  return now && isSameUpstream(now, provider) ? now.keys : provider.keys
}

function usableKeys(pool: Pool, provider: Provider): readonly ProviderKey[] {
  const keys = keysOf(pool, provider)
  if (pool.rests.size === 0) return keys
  return keys.filter((key) => remainingMs(pool, provider, key) === 0)
}

function remainingMs(pool: Pool, provider: Provider, key: ProviderKey): number {
  const rest = pool.rests.get(providerKeyId(provider, key))
  return rest ? Math.max(0, rest.untilMs - pool.clock.monotonic()) : 0
}

function cool(pool: Pool, provider: Provider, key: ProviderKey, retryAfterMs: number | undefined): void {
  const id = providerKeyId(provider, key)
  const restingMs = remainingMs(pool, provider, key)
  // Calls that were in flight together are limited together: that is one limit, not several in a row.
  if (restingMs > 0 && restingMs >= (retryAfterMs ?? 0)) return
  const coolings = pool.rests.get(id)?.coolings ?? 0
  const usualMs = Math.min(MAX_COOLING_MS, FIRST_COOLING_MS * 2 ** Math.min(coolings, 10))
  lay(pool, id, { state: 'cooling', forMs: retryAfterMs ?? usualMs }, coolings + 1)
}

function takeOut(pool: Pool, provider: Provider, key: ProviderKey, status: number): void {
  lay(pool, providerKeyId(provider, key), { state: 'out', forMs: OUT_MS }, 0)
  pool.options.onOut?.(provider, key, status)
}

function accuse(pool: Pool, provider: Provider, key: ProviderKey, status: number, accountId: string): void {
  const id = providerKeyId(provider, key)
  const nowMs = pool.clock.monotonic()
  const known = pool.accusations.get(id)
  const isRecent = known !== undefined && nowMs - known.sinceMs < OUT_MS
  const accusation = isRecent ? known : { sinceMs: nowMs, accountIds: new Set<string>() }
  accusation.accountIds.add(accountId)
  if (accusation.accountIds.size < MIN_ACCUSERS) pool.accusations.set(id, accusation)
  else {
    pool.accusations.delete(id)
    takeOut(pool, provider, key, status)
  }
}

function lay(pool: Pool, id: string, rest: KeyRest, coolings: number): void {
  const sinceMs = pool.clock.monotonic()
  pool.rests.set(id, { state: rest.state, sinceMs, untilMs: sinceMs + rest.forMs, coolings })
  pool.options.onRest?.(id, rest)
}

/** A success ends what came before its call began: calls in flight when the key was limited prove nothing. */
function noteSuccess(pool: Pool, id: string, startedMs: number): void {
  if (pool.accusations.size > 0) acquit(pool, id, startedMs)
  const rest = pool.rests.get(id)
  if (!rest || startedMs < rest.sinceMs) return
  const isOver = rest.untilMs <= pool.clock.monotonic()
  if (!isOver && rest.state === 'cooling') return
  pool.rests.delete(id)
  if (!isOver) pool.options.onRevival?.(id)
}

function acquit({ accusations }: Pool, id: string, startedMs: number): void {
  const accusation = accusations.get(id)
  if (accusation && startedMs >= accusation.sinceMs) accusations.delete(id)
}

/**
 * The key of a conversation, which is that of as many conversations as its weight says: each key draws a lot by its own name, so
 * that a key that comes or goes moves nobody else's.
 */
function keyOf(provider: Provider, keys: readonly ProviderKey[], conversation: string): ProviderKey | undefined {
  let [best, shortest]: [ProviderKey | undefined, number] = [undefined, Number.POSITIVE_INFINITY]
  for (const key of keys) {
    const lot = Number.parseInt(sha256Hex(`${conversation}\n${providerKeyId(provider, key)}`).slice(0, LOT_DIGITS), 16)
    const wait = -Math.log((lot + 0.5) / 16 ** LOT_DIGITS) / key.weight
    if (wait < shortest) [best, shortest] = [key, wait]
  }
  return best
}

/** One of `keys`, each as likely as its weight says. */
function draw(keys: readonly ProviderKey[], random: () => number): ProviderKey | undefined {
  let ticket = random() * keys.reduce((sum, key) => sum + key.weight, 0)
  for (const key of keys) {
    ticket -= key.weight
    if (ticket < 0) return key
  }
  return keys[keys.length - 1]
}

function leastResting(pool: Pool, provider: Provider, keys: readonly ProviderKey[]): ProviderKey | undefined {
  const byRest = keys.map((key) => ({ key, restMs: remainingMs(pool, provider, key) }))
  return byRest.sort((left, right) => left.restMs - right.restMs)[0]?.key
}
