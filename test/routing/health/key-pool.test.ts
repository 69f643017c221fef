/** Provider keys: their weights, their pauses, and the notes of other gateways. */
import { beforeEach, describe, expect, test } from 'bun:test'
import { type ManualClock, manualClock, providerOf } from '@test/routing/world'
import type { ProviderKey } from '@/catalog/types'
import {
  createKeyPool,
  FIRST_COOLING_MS,
  type KeyLimit,
  type KeyPool,
  MAX_COOLING_MS,
  MIN_STRIKES,
  OUT_MS,
} from '@/routing/health/key-pool'

const provider = providerOf('p1', {}, 3)
const [k1, k2, k3] = provider.keys as [ProviderKey, ProviderKey, ProviderKey]
const NONE: ReadonlySet<string> = new Set()
const ANY = 'acc_1'

let clock: ManualClock
let pool: KeyPool
let events: string[]

beforeEach(() => {
  clock = manualClock()
  events = []
  pool = createKeyPool({
    clock,
    random: () => 0,
    onRest: (id, { state, forMs }) => events.push(`${id} ${state} ${forMs}`),
    onRevival: (id) => events.push(`${id} revived`),
    onOut: (owner, key, status) => events.push(`alert ${owner.name}/${key.id} ${status}`),
  })
})

/** A limit that binds everybody. */
const limit = (key: ProviderKey, retryAfterMs: number | undefined) =>
  pool.cool(provider, key, { accountId: ANY, retryAfterMs, left: 'nothing' })

describe('the choice of a provider key', () => {
  test('keys are chosen in proportion to their weights', () => {
    const weighted = providerOf('p1', {
      keys: [
        { ...k1, weight: 3 },
        { ...k2, weight: 1 },
      ],
    })
    const draw = (permit: number) => createKeyPool({ clock, random: () => permit }).pickUsable(weighted, NONE, ANY)?.id
    expect(draw(0)).toBe('k1')
    expect(draw(0.749)).toBe('k1')
    expect(draw(0.751)).toBe('k2')
    expect(draw(0.999)).toBe('k2')
  })

  test('a conversation keeps its key, unless the key may not be used', () => {
    const names = Array.from({ length: 300 }, (_, index) => `c${index}`)
    const chosen = (from: KeyPool) => names.map((name) => from.pickUsable(provider, NONE, ANY, () => name)?.id)
    const before = chosen(pool)
    expect(chosen(createKeyPool({ clock }))).toEqual(before)
    for (const { id } of provider.keys) expect(before.filter((each) => each === id).length).toBeGreaterThan(70)
    limit(k2, 7_000)
    const meanwhile = chosen(pool)
    for (const [index, id] of before.entries()) {
      if (id === 'k2') expect(meanwhile[index]).not.toBe('k2')
      else expect(meanwhile[index]).toBe(id as string)
    }
    clock.advance(7_000)
    expect(chosen(pool)).toEqual(before)
    expect(pool.pickUsable(provider, NONE, ANY, () => undefined)?.id).toBe('k1')
  })

  test('keys of conversations are chosen in proportion to their weights', () => {
    const weighted = providerOf('p1', {
      keys: [
        { ...k1, weight: 3 },
        { ...k2, weight: 1 },
      ],
    })
    const names = Array.from({ length: 1_000 }, (_, index) => `c${index}`)
    const first = names.filter((name) => pool.pickUsable(weighted, NONE, ANY, () => name)?.id === 'k1')
    expect(first.length).toBeGreaterThan(700)
    expect(first.length).toBeLessThan(800)
  })

  test('excluded keys are not chosen; if all are excluded, no key is chosen', () => {
    expect(pool.pickUsable(provider, new Set(['k1']), ANY)?.id).toBe('k2')
    expect(pool.pickUsable(provider, new Set(['k1', 'k2', 'k3']), ANY)).toBeUndefined()
  })
})

describe('a key with a 429', () => {
  test('a 429 pauses the key as long as the provider asks', () => {
    limit(k1, 7_000)
    expect(events).toEqual(['p1/k1 cooling 7000'])
    expect(pool.pickUsable(provider, NONE, ANY)?.id).toBe('k2')
    clock.advance(6_999)
    expect(pool.pickUsable(provider, NONE, ANY)?.id).toBe('k2')
    clock.advance(1)
    expect(pool.pickUsable(provider, NONE, ANY)?.id).toBe('k1')
  })

  test('a 429 without retry-after pauses the key longer each time, up to a minute; a success resets this', () => {
    let expected = FIRST_COOLING_MS
    for (let round = 0; round < 8; round++) {
      limit(k1, undefined)
      expect(pool.resting().get('p1/k1')?.forMs).toBe(expected)
      clock.advance(expected)
      expected = Math.min(MAX_COOLING_MS, expected * 2)
    }
    pool.noteSuccess(provider, k1, clock.monotonic(), ANY)
    limit(k1, undefined)
    expect(pool.resting().get('p1/k1')?.forMs).toBe(FIRST_COOLING_MS)
  })

  test('concurrent calls with a 429 count as one for the key’s pause', () => {
    for (let index = 0; index < 10; index++) limit(k1, undefined)
    expect(pool.resting().get('p1/k1')?.forMs).toBe(FIRST_COOLING_MS)
    expect(events).toHaveLength(1)
    limit(k1, 30_000)
    expect(pool.resting().get('p1/k1')?.forMs).toBe(30_000)
  })

  test('a success of an earlier call does not end the pause', () => {
    const startedMs = clock.monotonic()
    clock.advance(10)
    limit(k1, 5_000)
    pool.noteSuccess(provider, k1, startedMs, ANY)
    pool.noteSuccess(provider, k1, clock.monotonic(), ANY)
    expect(pool.resting().has('p1/k1')).toBe(true)
  })

  test('if all keys pause, the key with the shortest pause is used', () => {
    limit(k1, 9_000)
    limit(k2, 1_000)
    limit(k3, 5_000)
    expect(pool.hasUsable(provider)).toBe(false)
    expect(pool.pickResting(provider, NONE, ANY)?.id).toBe('k2')
    expect(pool.pickResting(provider, new Set(['k2']), ANY)?.id).toBe('k3')
    expect(pool.pickResting(provider, new Set(['k1', 'k2', 'k3']), ANY)).toBeUndefined()
  })
})

describe('a 429 for a single account', () => {
  const meet = (accountId: string, left?: KeyLimit['left'], retryAfterMs?: number) =>
    pool.cool(provider, k1, { accountId, retryAfterMs, left })
  const avoided = new Set(['k2', 'k3'])
  const isUsable = (accountId: string) => pool.pickUsable(provider, avoided, accountId) === k1

  test('if a call succeeds in between, the 429 of a second account does not pause the key for others', () => {
    meet('acc_1')
    pool.noteSuccess(provider, k1, clock.monotonic(), 'acc_3')
    expect(meet('acc_2')).toBe(false)
    expect(isUsable('acc_3')).toBe(true)
  })

  test('a 429 whose headers say that nothing remains pauses the key for all; if something remains, for no other account', () => {
    for (const account of ['acc_1', 'acc_2', 'acc_3']) expect(meet(account, 'something', 5_000)).toBe(false)
    expect(isUsable('acc_4')).toBe(true)
    expect(meet('acc_4', 'nothing')).toBe(true)
    expect(isUsable('acc_5')).toBe(false)
  })
})

describe('a refused key', () => {
  test('a refused key is not used, raises an alert, and is tried again later', () => {
    pool.takeOut(provider, k2, 401)
    expect(events).toEqual([`p1/k2 out ${OUT_MS}`, 'alert p1/k2 401'])
    expect(pool.pickUsable(provider, new Set(['k1', 'k3']), ANY)).toBeUndefined()
    clock.advance(OUT_MS)
    expect(pool.pickUsable(provider, new Set(['k1', 'k3']), ANY)?.id).toBe('k2')
  })

  test('a call that succeeds later makes a refused key usable again', () => {
    pool.takeOut(provider, k1, 403)
    pool.noteSuccess(provider, k1, clock.monotonic() - 1, ANY)
    expect(pool.resting().has('p1/k1')).toBe(true)
    pool.noteSuccess(provider, k1, clock.monotonic(), ANY)
    expect(pool.resting().has('p1/k1')).toBe(false)
    expect(events.at(-1)).toBe('p1/k1 revived')
  })
})

describe('a refusal that may be about the request', () => {
  test('ambiguous refusals of several accounts in a row stop the use of the key', () => {
    for (const account of ['acc_1', 'acc_2', 'acc_1']) pool.strike(provider, k1, 403, account)
    expect(events).toEqual([])
    pool.strike(provider, k1, 403, 'acc_3')
    expect(events).toEqual([`p1/k1 out ${OUT_MS}`, 'alert p1/k1 403'])
    expect(MIN_STRIKES).toBe(3)
  })

  test('a success for any account, and time, reset the count of ambiguous refusals', () => {
    for (const account of ['acc_1', 'acc_2']) pool.strike(provider, k1, 403, account)
    pool.noteSuccess(provider, k1, clock.monotonic(), ANY)
    for (const account of ['acc_3', 'acc_4']) pool.strike(provider, k1, 403, account)
    pool.noteSuccess(provider, k1, clock.monotonic() - 1, ANY)
    clock.advance(OUT_MS)
    for (const account of ['acc_5', 'acc_6']) pool.strike(provider, k1, 403, account)
    expect(events).toEqual([])
    pool.strike(provider, k1, 403, 'acc_7')
    expect(events).toHaveLength(2)
  })
})

describe('other gateways', () => {
  test('other gateways’ pauses count, are not passed on, and never shorten ours', () => {
    pool.adopt('p1/k1', { state: 'cooling', forMs: 4_000 })
    expect(pool.pickUsable(provider, NONE, ANY)?.id).toBe('k2')
    expect(events).toEqual([])
    limit(k2, 9_000)
    pool.adopt('p1/k2', { state: 'cooling', forMs: 1_000 })
    expect(pool.resting().get('p1/k2')?.forMs).toBe(9_000)
    clock.advance(4_000)
    expect(pool.pickUsable(provider, NONE, ANY)?.id).toBe('k1')
  })
})
