/** Conversations that keep their model while a tier might choose another. */
import { expect, test } from 'bun:test'
import { manualClock, requestOf } from '@test/routing/world'
import { createStickiness, MAX_SESSIONS, SESSION_SECONDS, sessionOf } from '@/routing/plan/stickiness'

function sharedStore() {
  const values = new Map<string, string>()
  const calls = { get: 0, set: 0 }
  return {
    values,
    calls,
    get: async (key: string) => {
      calls.get++
      return values.get(key) ?? null
    },
    set: async (key: string, value: string) => {
      calls.set++
      values.set(key, value)
    },
  }
}

test('remembers in the process until the conversation has paused for too long', async () => {
  const clock = manualClock()
  const sticky = createStickiness(clock)
  expect(await sticky.recall('s')).toBeUndefined()
  sticky.remember('s', 'svc/alpha')
  clock.advance(SESSION_SECONDS * 1000 - 1)
  expect(await sticky.recall('s')).toBe('svc/alpha')
  clock.advance(1)
  expect(await sticky.recall('s')).toBeUndefined()
})

test('another gateway learns of it from the shared store, which is asked once and told rarely', async () => {
  const store = sharedStore()
  const clock = manualClock()
  const [first, second] = [createStickiness(clock, store), createStickiness(clock, store)]
  for (let turn = 0; turn < 5; turn++) first.remember('s', 'svc/alpha')
  expect(store.calls.set).toBe(1)
  expect(await second.recall('s')).toBe('svc/alpha')
  expect(await second.recall('s')).toBe('svc/alpha')
  expect(store.calls.get).toBe(1)
  clock.advance(61_000)
  first.remember('s', 'svc/alpha')
  first.remember('s', 'svc/beta')
  expect(store.calls.set).toBe(3)
})

test('a store that fails or hangs costs nothing but the memory', async () => {
  const broken = { get: () => Promise.reject(new Error('down')), set: () => Promise.reject(new Error('down')) }
  const hanging = { get: () => new Promise<string>(() => undefined), set: () => new Promise<void>(() => undefined) }
  for (const keeper of [broken, hanging]) {
    const sticky = createStickiness(manualClock(), keeper)
    expect(await sticky.recall('s')).toBeUndefined()
    sticky.remember('s', 'svc/alpha')
    expect(await sticky.recall('s')).toBe('svc/alpha')
  }
})

test('is bounded: the conversation that was quiet for longest is forgotten first', async () => {
  const sticky = createStickiness(manualClock())
  for (let index = 0; index < MAX_SESSIONS; index++) sticky.remember(`s${index}`, 'svc/alpha')
  sticky.remember('s0', 'svc/alpha')
  sticky.remember('new', 'svc/alpha')
  expect(await sticky.recall('s0')).toBe('svc/alpha')
  expect(await sticky.recall('s1')).toBeUndefined()
})

test('a conversation is named by header, cache key or user, within its account and tier', () => {
  const named = requestOf({ model: 'auto-smart', cacheKey: 'c', userId: 'u' })
  expect(sessionOf('a1', requestOf(), undefined)).toBeUndefined()
  expect(sessionOf('a1', requestOf(), '')).toBeUndefined()
  const byHeader = sessionOf('a1', named, 'h')
  const byCacheKey = sessionOf('a1', named, undefined)
  const byUser = sessionOf('a1', requestOf({ model: 'auto-smart', userId: 'u' }), undefined)
  const elsewhere = sessionOf('a2', named, 'h')
  const otherTier = sessionOf('a1', { ...named, model: 'auto-fast' }, 'h')
  expect(new Set([byHeader, byCacheKey, byUser, elsewhere, otherTier]).size).toBe(5)
  expect(sessionOf('a1', named, 'h')).toBe(byHeader as string)
  expect(byHeader).toMatch(/^[0-9a-f]{32}$/)
})
