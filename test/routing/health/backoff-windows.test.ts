/** Pauses that providers request by retry-after: kept per target and key, and never shortened. */
import { expect, test } from 'bun:test'
import { manualClock, providerOf, targetOf } from '@test/routing/world'
import type { ProviderKey } from '@/catalog/types'
import { createBackoffWindows } from '@/routing/health/backoff-windows'

const provider = providerOf('p1', {}, 2)
const [k1, k2] = provider.keys as [ProviderKey, ProviderKey]
const [alpha, beta] = [targetOf(provider, 'alpha'), targetOf(provider, 'beta')]

test('each target and key has its own pause; of two requested pauses the longer one applies', () => {
  const clock = manualClock()
  const told: [string, number][] = []
  const backoffs = createBackoffWindows(clock, (id, forMs) => told.push([id, forMs]))
  expect(backoffs.remainingMs(alpha, k1, 'acc_1')).toBe(0)
  backoffs.keep(alpha, k1, 7_000)
  backoffs.keep(alpha, k1, 3_000)
  clock.advance(1_000)
  expect(backoffs.remainingMs(alpha, k1, 'acc_1')).toBe(6_000)
  expect([backoffs.remainingMs(alpha, k2, 'acc_1'), backoffs.remainingMs(beta, k1, 'acc_1')]).toEqual([0, 0])
  expect(told).toEqual([['p1/alpha k1', 7_000]])
  clock.advance(6_000)
  expect(backoffs.remainingMs(alpha, k1, 'acc_1')).toBe(0)
})

test('another gateway’s pause applies like our own', () => {
  const clock = manualClock()
  const told: string[] = []
  const backoffs = createBackoffWindows(clock, (id) => told.push(id))
  backoffs.adopt('p1/beta k2', 500)
  expect(backoffs.remainingMs(beta, k2, 'acc_1')).toBe(500)
  expect(told).toEqual([])
})

test('a pause for one account applies to that account only, and is not shared', () => {
  const clock = manualClock()
  const told: string[] = []
  const backoffs = createBackoffWindows(clock, (id) => told.push(id))
  backoffs.keep(alpha, k1, 7_000, 'acc_1')
  backoffs.keep(alpha, k1, 2_000)
  const left = () => ['acc_1', 'acc_2'].map((accountId) => backoffs.remainingMs(alpha, k1, accountId))
  expect([left(), told]).toEqual([[7_000, 2_000], ['p1/alpha k1']])
  clock.advance(7_000)
  expect(left()).toEqual([0, 0])
})
