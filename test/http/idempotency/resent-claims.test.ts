/** When Redis returns, the writes of its last seconds are sent again, and no idempotency key is usable before that. */
import { beforeEach, expect, test } from 'bun:test'
import { memoryLogger } from '@test/ledger/harness'
import { manualClock } from '@test/routing/world'
import type { GatewayError } from '@/chat/error'
import type { Claimant, Claims } from '@/http/idempotency/claims'
import type { KeptAnswer } from '@/http/idempotency/kept-answers'
import { createResentClaims } from '@/http/idempotency/resent-claims'

const ANSWER: KeptAnswer = { status: 200, headers: [], body: 'Hello' }
const HOUR_MS = 3_600_000

/** What the store has of each key: who has it, and the answer. */
let store: Map<string, { requestId: string; answer?: KeptAnswer }>
/** Holds up each claim until it is resolved. */
let gate: Promise<void> | undefined
let clock: ReturnType<typeof manualClock>
let claims: ReturnType<typeof createResentClaims>

beforeEach(() => {
  store = new Map()
  gate = undefined
  clock = manualClock()
  claims = createResentClaims(storedClaims(), clock, memoryLogger())
})

function storedClaims(): Claims {
  return {
    async claim({ idempotencyKey, requestId }) {
      await gate
      const had = store.get(idempotencyKey)
      if (had?.answer) return { kind: 'kept', requestId: had.requestId, answer: had.answer }
      if (had) return { kind: 'open', requestId: had.requestId, keyId: 'key', ageMs: 0 }
      store.set(idempotencyKey, { requestId })
      return { kind: 'claimed' }
    },
    isKnown: async ({ idempotencyKey }) => store.has(idempotencyKey),
    takeOver: async () => false,
    async keep({ idempotencyKey, requestId }, answer) {
      store.set(idempotencyKey, { requestId, answer })
      return true
    },
    async free({ idempotencyKey }) {
      store.delete(idempotencyKey)
    },
    spend: async () => undefined,
  }
}

function claimant(name: string, attempt = 1): Claimant {
  const requestId = `${name}-${attempt}`
  return { accountId: 'acct', keyId: 'key', idempotencyKey: name, fingerprint: 'f', requestId }
}

async function answer(name: string): Promise<void> {
  expect(await claims.claim(claimant(name))).toEqual({ kind: 'claimed' })
  await claims.keep(claimant(name), ANSWER)
}

test('an answer is stored again, however long Redis was unreachable', async () => {
  await answer('one')
  clock.advance(HOUR_MS)
  store.clear()
  claims.storeReturned()
  expect(await claims.claim(claimant('one', 2))).toEqual({ kind: 'kept', requestId: 'one-1', answer: ANSWER })
})

test('when Redis returns, writes acknowledged more than five seconds before the last one are not sent again', async () => {
  await answer('old')
  clock.advance(6_000)
  await answer('new')
  store.clear()
  claims.storeReturned()
  expect(await claims.claim(claimant('new', 2))).toMatchObject({ kind: 'kept' })
  expect([...store.keys()]).toEqual(['new'])
})

test('a key that may have been charged is usable only after all waiting writes were sent again', async () => {
  await answer('one')
  store.clear()
  const held = Promise.withResolvers<void>()
  gate = held.promise
  claims.storeReturned()
  const refused = await claims.claim(claimant('one', 2)).catch((error: GatewayError) => error.options.code)
  expect(refused).toBe('idempotency_unavailable')
  held.resolve()
  gate = undefined
  expect(await claims.claim(claimant('one', 3))).toMatchObject({ kind: 'kept', requestId: 'one-1' })
})

test('newly acknowledged writes do not replace writes that wait to be sent again', async () => {
  await answer('one')
  const under = claimant('under-way')
  await claims.claim(under)
  clock.advance(HOUR_MS)
  store.clear()
  const held = Promise.withResolvers<void>()
  gate = held.promise
  claims.storeReturned()
  await claims.keep(under, ANSWER)
  held.resolve()
  gate = undefined
  expect(await claims.claim(claimant('one', 2))).toMatchObject({ kind: 'kept', requestId: 'one-1' })
})
