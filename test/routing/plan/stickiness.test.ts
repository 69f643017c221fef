/** The memory of the model that each conversation uses. */
import { expect, test } from 'bun:test'
import { manualClock } from '@test/routing/world'
import { until } from '@test/support/until'
import type { Session } from '@/routing/plan/session'
import { createStickiness, MAX_SESSIONS, SESSION_SECONDS } from '@/routing/plan/stickiness'

const named = (name: string): Session => ({ from: name, to: name, isNamed: true })
const never = () => false
/** Ids later in the alphabet are stronger. */
const thanNew = (modelId: string) => (held: string) => held > modelId

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

test('a conversation’s model is remembered in the process until a long pause', async () => {
  const clock = manualClock()
  const sticky = createStickiness(clock)
  expect(await sticky.recall(named('s'))).toBeUndefined()
  sticky.remember(named('s'), 'svc/alpha', never)
  clock.advance(SESSION_SECONDS * 1000 - 1)
  expect(await sticky.recall(named('s'))).toBe('svc/alpha')
  clock.advance(1)
  expect(await sticky.recall(named('s'))).toBeUndefined()
})

test('other gateways read a conversation’s model from Redis, at most once a second', async () => {
  const store = sharedStore()
  const clock = manualClock()
  const [first, second] = [createStickiness(clock, store), createStickiness(clock, store)]
  for (let turn = 0; turn < 5; turn++) first.remember(named('s'), 'svc/alpha', never)
  await until(async () => store.calls.set === 1, 'the store was told')
  const asked = store.calls.get
  expect(await second.recall(named('s'))).toBe('svc/alpha')
  expect(await second.recall(named('s'))).toBe('svc/alpha')
  expect(store.calls.get).toBe(asked + 1)
  clock.advance(61_000)
  first.remember(named('s'), 'svc/alpha', never)
  await until(async () => store.calls.set === 2, 'the store was told again')
})

test('a gateway uses the stronger model that another gateway chose, and never a weaker one', async () => {
  const store = sharedStore()
  const clock = manualClock()
  const [first, second] = [createStickiness(clock, store), createStickiness(clock, store)]
  first.remember(named('s'), 'svc/alpha', never)
  await until(async () => store.calls.set === 1, 'the store was told')
  second.remember(named('s'), 'svc/beta', thanNew('svc/beta'))
  await until(async () => store.calls.set === 2, 'the store was told of the stronger one')
  clock.advance(61_000)
  const asked = store.calls.get
  first.remember(named('s'), 'svc/alpha', thanNew('svc/alpha'))
  await until(async () => store.calls.get > asked, 'the store was asked')
  expect([...store.values.values()]).toEqual(['svc/beta'])
  clock.advance(1_000)
  expect(await first.recall(named('s'))).toBe('svc/beta')
})

test('a gateway only looks up an unnamed conversation if another gateway answered its last turn', async () => {
  const store = sharedStore()
  const clock = manualClock()
  const sticky = createStickiness(clock, store)
  expect(await sticky.recall({ from: undefined, to: 'a', isNamed: false })).toBeUndefined()
  sticky.remember({ from: undefined, to: 'a', isNamed: false }, 'svc/alpha', never)
  await until(async () => store.calls.set === 1, 'the store was told')
  clock.advance(60_000)
  expect(await sticky.recall({ from: 'a', to: 'b', isNamed: false })).toBe('svc/alpha')
  expect(store.calls.get).toBe(0)
  expect(await createStickiness(clock, store).recall({ from: 'a', to: 'b', isNamed: false })).toBe('svc/alpha')
})

test('if Redis fails or hangs, only the memory of models is lost', async () => {
  const broken = { get: () => Promise.reject(new Error('down')), set: () => Promise.reject(new Error('down')) }
  const hanging = { get: () => new Promise<string>(() => undefined), set: () => new Promise<void>(() => undefined) }
  for (const keeper of [broken, hanging]) {
    const clock = manualClock()
    const sticky = createStickiness(clock, keeper)
    expect(await sticky.recall(named('s'))).toBeUndefined()
    sticky.remember(named('s'), 'svc/alpha', never)
    clock.advance(60_000)
    expect(await sticky.recall(named('s'))).toBe('svc/alpha')
  }
})

test('the memory of models is limited: the longest unused conversation is forgotten first', async () => {
  const sticky = createStickiness(manualClock())
  for (let index = 0; index < MAX_SESSIONS; index++) sticky.remember(named(`s${index}`), 'svc/alpha', never)
  sticky.remember(named('s0'), 'svc/alpha', never)
  sticky.remember(named('new'), 'svc/alpha', never)
  expect(await sticky.recall(named('s0'))).toBe('svc/alpha')
  expect(await sticky.recall(named('s1'))).toBeUndefined()
})
