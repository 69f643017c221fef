/** Tokens that expire: how often they are fetched, who waits, and what calls get while none can be fetched. */
import { describe, expect, test } from 'bun:test'
import { manualClock } from '@test/routing/world'
import { until } from '@test/support/until'
import { CredentialError } from '@/dialects/credentials/authorizer'
import { createTokenSource, sharedSource, type Token } from '@/dialects/credentials/token-source'

const HOUR_MS = 3_600_000
const FOREVER = new AbortController().signal

/** A source whose requests the test answers one by one. */
function scripted() {
  const clock = manualClock()
  const requests: PromiseWithResolvers<Token>[] = []
  const source = createTokenSource({
    fetchToken() {
      const request = Promise.withResolvers<Token>()
      requests.push(request)
      return request.promise
    },
    clock,
    random: () => 0.5,
  })
  return {
    ...{ clock, source, requests },
    get: () => source.get(FOREVER),
    give: (value: string, lifeMs = HOUR_MS) => requests.at(-1)?.resolve({ value, expiresAtMs: clock.now() + lifeMs }),
    refuse: () => requests.at(-1)?.reject(new CredentialError('no')),
  }
}

/** One that has given out `first`. */
async function warm() {
  const world = scripted()
  const first = world.get()
  world.give('first')
  expect(await first).toBe('first')
  return world
}

test('E6: fifty concurrent calls wait for one token request', async () => {
  const world = scripted()
  const all = Array.from({ length: 50 }, world.get)
  world.give('first')
  expect(new Set(await Promise.all(all))).toEqual(new Set(['first']))
  expect(world.requests).toHaveLength(1)
})

describe('before the token expires', () => {
  test('before a token expires it is used while the next one is fetched once', async () => {
    const world = await warm()
    world.clock.advance(HOUR_MS - 301_000)
    await world.get()
    expect(world.requests).toHaveLength(1)
    world.clock.advance(1_000)
    expect(await Promise.all([world.get(), world.get()])).toEqual(['first', 'first'])
    expect(world.requests).toHaveLength(2)
    world.give('second')
    await until(async () => (await world.get()) === 'second')
    expect(world.requests).toHaveLength(2)
  })

  test('renewing a short-lived token takes at most a fifth of its life', async () => {
    const world = scripted()
    const first = world.get()
    world.give('first', 100_000)
    await first
    world.clock.advance(79_000)
    await world.get()
    expect(world.requests).toHaveLength(1)
    world.clock.advance(1_000)
    await world.get()
    expect(world.requests).toHaveLength(2)
  })

  test('a failed renewal fails no call while the token is valid; retries to an unreachable endpoint become less frequent', async () => {
    const world = await warm()
    world.clock.advance(HOUR_MS - 300_000)
    const asked: number[] = []
    for (let second = 0; second < 290; second++) {
      expect(await world.get()).toBe('first')
      if (world.requests.length > asked.length + 1) {
        asked.push(second)
        world.refuse()
        await world.requests.at(-1)?.promise.catch(() => undefined)
        // The failure is noted behind the request, before anything else is asked.
        await Bun.sleep(0)
      }
      world.clock.advance(1_000)
    }
    const pauses = asked.slice(1).map((second, index) => second - (asked[index] ?? 0))
    expect(pauses.length).toBeGreaterThan(5)
    expect(pauses).toEqual(pauses.toSorted((left, right) => left - right))
    expect(Math.max(...pauses)).toBeLessThan(61)
  })
})

describe('without a valid token', () => {
  test('without a valid token every call fails, and the next token request waits', async () => {
    const world = await warm()
    world.clock.advance(HOUR_MS)
    const failing = [world.get(), world.get()].map((got) => got.catch((error: unknown) => error))
    world.refuse()
    for (const error of await Promise.all(failing)) expect(error).toBeInstanceOf(CredentialError)
    expect(await world.get().catch((error: unknown) => error)).toBeInstanceOf(CredentialError)
    expect(world.requests).toHaveLength(2)
    world.clock.advance(1_000)
    const next = world.get()
    world.give('second')
    expect(await next).toBe('second')
  })

  test('a waiting call that gives up is released, and the token request continues for the others', async () => {
    const world = scripted()
    const leaving = new AbortController()
    const left = world.source.get(leaving.signal).catch((error: unknown) => error)
    const staying = world.get()
    leaving.abort()
    expect(await left).toBeInstanceOf(CredentialError)
    world.give('first')
    expect(await staying).toBe('first')
  })
})

test('a refused token is not used again, unless it was already replaced', async () => {
  const world = await warm()
  expect(world.source.drop('older')).toBe(true)
  expect(await world.get()).toBe('first')
  expect(world.source.drop('first')).toBe(true)
  const next = world.get()
  world.give('second')
  expect(await next).toBe('second')
})

test('a token is requested once before the first call, and reports its state', async () => {
  const world = scripted()
  expect(world.source.status()).toEqual({ expiresAtMs: undefined, obtained: 0, failed: 0 })
  world.source.warm()
  world.source.warm()
  world.refuse()
  expect(await world.get().catch((error: unknown) => error)).toBeInstanceOf(CredentialError)
  expect(world.source.status()).toEqual({ expiresAtMs: undefined, obtained: 0, failed: 1 })
  world.clock.advance(1_000)
  world.source.warm()
  const first = world.get()
  world.give('first')
  expect(await first).toBe('first')
  world.source.warm()
  expect(world.requests).toHaveLength(2)
  expect(world.source.status()).toEqual({ expiresAtMs: world.clock.now() + HOUR_MS, obtained: 1, failed: 1 })
})

test('entries with the same identity share one token source', () => {
  const create = () => createTokenSource({ fetchToken: () => Promise.reject(new CredentialError('no')) })
  const one = sharedSource(['test', 'a'], create)
  expect(sharedSource(['test', 'a'], create)).toBe(one)
  expect(sharedSource(['test', 'b'], create)).not.toBe(one)
})
