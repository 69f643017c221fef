/** When Postgres is asked whether an idempotency key was charged; no request gets a key that was or may have been. */
import { beforeEach, expect, test } from 'bun:test'
import { createBookedClaims } from '@/http/idempotency/booked-claims'
import { type Claimant, type Claims, digestOf } from '@/http/idempotency/claims'
import { KEEP_MS } from '@/http/idempotency/kept-answers'
import type { ChargedRequest } from '@/usage/charged-keys'

const NOW_MS = 2_000_000_000_000
const REFUSED = { kind: 'overloaded', options: { code: 'idempotency_unavailable' } }
const CHARGED: ChargedRequest = { requestId: 'req_charged', keyId: 'key_other' }

/** What the store has of each key: who has it, and the outcome of it. */
let store: Map<string, { requestId: string; state: 'open' | 'spent' }>
/** What the books have, by digest; undefined while nothing can be asked. */
let books: Map<string, ChargedRequest> | undefined
let asked: number
let sinceMs: number
let claims: Claims

beforeEach(() => {
  store = new Map()
  books = new Map()
  asked = 0
  sinceMs = NOW_MS - 1_000
  claims = createBookedClaims({
    claims: storedClaims(),
    storeSinceMs: () => sinceMs,
    now: () => NOW_MS,
    async findCharged(_, digest) {
      asked++
      if (!books) throw new Error('the books are closed')
      return books.get(digest)
    },
  })
})

function storedClaims(): Claims {
  return {
    async claim({ idempotencyKey, requestId }) {
      const had = store.get(idempotencyKey)
      if (had) return { kind: had.state, requestId: had.requestId, keyId: 'key', ageMs: 0 }
      store.set(idempotencyKey, { requestId, state: 'open' })
      return { kind: 'claimed' }
    },
    isKnown: async ({ idempotencyKey }) => store.has(idempotencyKey),
    async takeOver({ idempotencyKey, requestId }, from) {
      if (store.get(idempotencyKey)?.requestId !== from) return false
      store.set(idempotencyKey, { requestId, state: 'open' })
      return true
    },
    keep: async () => false,
    async free({ idempotencyKey }) {
      store.delete(idempotencyKey)
    },
    async spend({ idempotencyKey, requestId }) {
      store.set(idempotencyKey, { requestId, state: 'spent' })
    },
  }
}

function claimant(requestId: string): Claimant {
  return { accountId: 'acct', keyId: 'key', idempotencyKey: 'one', fingerprint: 'f', requestId }
}

const digest = digestOf(claimant(''))

test('a charged idempotency key is tied to its request', async () => {
  books?.set(digest, CHARGED)
  expect(await claims.claim(claimant('req_1'))).toEqual({ kind: 'spent', ...CHARGED, ageMs: 0 })
  expect(store.get('one')).toEqual({ requestId: CHARGED.requestId, state: 'spent' })
})

test('Postgres is asked once about an unknown idempotency key', async () => {
  expect(await claims.claim(claimant('req_1'))).toEqual({ kind: 'claimed' })
  expect(await claims.claim(claimant('req_2'))).toMatchObject({ kind: 'open', requestId: 'req_1' })
  expect(asked).toBe(1)
})

test('Redis is trusted about keys if it lost no data for a day, but not if its last loss is unknown', async () => {
  sinceMs = NOW_MS - KEEP_MS
  books?.set(digest, CHARGED)
  expect(await claims.claim(claimant('req_1'))).toEqual({ kind: 'claimed' })
  expect(asked).toBe(0)
  store.clear()
  sinceMs = Number.POSITIVE_INFINITY
  expect(await claims.claim(claimant('req_2'))).toMatchObject({ kind: 'spent' })
})

test('while Postgres is down no new idempotency key can be used', async () => {
  books = undefined
  await expect(claims.claim(claimant('req_1'))).rejects.toMatchObject(REFUSED)
  expect(store.size).toBe(0)
})

test('if a gateway died before it asked Postgres about a key, the next request can use the key', async () => {
  store.set('one', { requestId: 'req_dead', state: 'open' })
  books = undefined
  await expect(claims.takeOver(claimant('req_1'), 'req_dead')).rejects.toMatchObject(REFUSED)
  books = new Map([[digest, CHARGED]])
  expect(await claims.takeOver(claimant('req_1'), 'req_dead')).toBe(false)
  expect(store.get('one')).toEqual({ requestId: CHARGED.requestId, state: 'spent' })
  store.set('one', { requestId: 'req_dead', state: 'open' })
  books.clear()
  expect(await claims.takeOver(claimant('req_1'), 'req_dead')).toBe(true)
})
