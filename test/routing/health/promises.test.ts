/** What providers asked for by retry-after: kept for the target and key that it was said of, and never shortened. */
import { expect, test } from 'bun:test'
import { manualClock, providerOf, targetOf } from '@test/routing/world'
import type { ProviderKey } from '@/catalog/types'
import { createPromises } from '@/routing/health/promises'

const provider = providerOf('p1', {}, 2)
const [k1, k2] = provider.keys as [ProviderKey, ProviderKey]
const [alpha, beta] = [targetOf(provider, 'alpha'), targetOf(provider, 'beta')]

test('each target and key has its own, and the longer one counts', () => {
  const clock = manualClock()
  const told: [string, number][] = []
  const promises = createPromises(clock, (id, forMs) => told.push([id, forMs]))
  expect(promises.remainingMs(alpha, k1)).toBe(0)
  promises.keep(alpha, k1, 7_000)
  promises.keep(alpha, k1, 3_000)
  clock.advance(1_000)
  expect(promises.remainingMs(alpha, k1)).toBe(6_000)
  expect([promises.remainingMs(alpha, k2), promises.remainingMs(beta, k1)]).toEqual([0, 0])
  expect(told).toEqual([['p1/alpha k1', 7_000]])
  clock.advance(6_000)
  expect(promises.remainingMs(alpha, k1)).toBe(0)
})

test('another gateway’s counts like our own', () => {
  const clock = manualClock()
  const told: string[] = []
  const promises = createPromises(clock, (id) => told.push(id))
  promises.adopt('p1/beta k2', 500)
  expect(promises.remainingMs(beta, k2)).toBe(500)
  expect(told).toEqual([])
})
