/** The answer cache in Redis: the newest answer of each request, within the account's share, in any order of events. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import { asGateway, redisUrl } from '@test/support/stores'
import { Redis } from 'ioredis'
import { createAnswerCache } from '@/http/answer-cache/answer-cache'
import { createClaims } from '@/http/idempotency/claims'
import { createKeptAnswers, type RunScript } from '@/http/idempotency/kept-answers'
import { createRoom } from '@/http/idempotency/room'
import { randomId, sha256Hex } from '@/lib/ids'

let redis: Redis
beforeAll(async () => {
  redis = new Redis(asGateway(await redisUrl()))
})
afterAll(() => redis.disconnect())

const run: RunScript = (text, keys, args) => redis.eval(text, keys.length, ...keys, ...args)
const HOUR_MS = 3_600_000

function open(accountBytes = 1024 * 1024) {
  const kept = createKeptAnswers({ run, accountBytes })
  return { cache: createAnswerCache(run, kept), claims: createClaims({ run, kept }) }
}

const answerOf = (body: string) => ({
  status: 200,
  headers: [['content-type', 'text/plain']] as [string, string][],
  body,
})
const keyOf = (accountId: string, name: string) => ({ accountId, digest: sha256Hex(name) })

/** What is counted of an account, and what its answers really have. */
async function counted(accountId: string) {
  const members = await redis.zrange(`idempotency:{${accountId}}:answers`, '0', '-1')
  const sum = members.reduce((total, member) => total + Number(member.split(':')[1]), 0)
  return { total: Number(await redis.get(`idempotency:{${accountId}}:bytes`)), sum, answers: members.length }
}

test('a cached answer is found by the same account and digest only, with its age and request', async () => {
  const { cache } = open()
  const key = keyOf(randomId('acct'), 'one')
  expect(await cache.find(key, HOUR_MS)).toBeUndefined()
  expect(await cache.put(key, HOUR_MS, 'req_1', answerOf('é'))).toBe(true)
  expect(await cache.find(key, HOUR_MS)).toMatchObject({ requestId: 'req_1', answer: answerOf('é') })
  expect(await cache.find(keyOf(key.accountId, 'two'), HOUR_MS)).toBeUndefined()
  expect(await cache.find(keyOf(randomId('acct'), 'one'), HOUR_MS)).toBeUndefined()
  expect(await cache.find(key, -1)).toBeUndefined()
})

test('an answer that has expired is gone, and a new answer of the same size is counted once', async () => {
  const { cache } = open()
  const key = keyOf(randomId('acct'), 'one')
  await cache.put(key, HOUR_MS, 'req_1', answerOf('same'))
  const once = await counted(key.accountId)
  await redis.del(`idempotency:{${key.accountId}}:claim:${key.digest}`)
  expect(await cache.find(key, HOUR_MS)).toBeUndefined()
  await cache.put(key, HOUR_MS, 'req_2', answerOf('same'))
  expect(await counted(key.accountId)).toEqual(once)
})

test('property: each request has its newest answer or none, and the counted bytes are those of the stored answers', async () => {
  const step = fc.record({
    name: fc.constantFrom('a', 'b', 'c', 'd'),
    size: fc.integer({ min: 0, max: 400 }),
    kind: fc.constantFrom('put', 'put', 'find', 'claim'),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const most = 1_200
      const { cache, claims } = open(most)
      const accountId = randomId('acct')
      const newest = new Map<string, string>()
      for (const [index, { name, size, kind }] of steps.entries()) {
        const body = `${index}`.padEnd(size, 'x')
        const key = keyOf(accountId, name)
        if (kind === 'put') {
          newest.delete(name)
          if (await cache.put(key, HOUR_MS, `req_${index}`, answerOf(body))) newest.set(name, body)
        } else if (kind === 'claim') {
          const claimant = {
            accountId,
            keyId: 'key_1',
            idempotencyKey: `key-${name}`,
            fingerprint: name,
            requestId: `req_${index}`,
          }
          const { kind: outcome } = await claims.claim(claimant)
          if (outcome === 'claimed') await claims.keep(claimant, answerOf(body))
        }
        const found = await cache.find(key, HOUR_MS)
        if (found) expect(found.answer.body).toBe(newest.get(name) ?? 'none was stored')
        const { total, sum } = await counted(accountId)
        expect(total).toBe(sum)
        expect(total).toBeLessThanOrEqual(most)
      }
    }),
    { numRuns: 60 },
  )
})

test('if there is no room, the oldest answers are dropped; dropped answers of idempotency keys are reported as lost', async () => {
  const { cache, claims } = open(2_000)
  const accountId = randomId('acct')
  const claimant = { accountId, keyId: 'key_1', idempotencyKey: 'one', fingerprint: 'f', requestId: 'req_1' }
  await claims.claim(claimant)
  await claims.keep(claimant, answerOf('x'.repeat(600)))
  const first = keyOf(accountId, 'first')
  expect(await cache.put(first, HOUR_MS, 'req_2', answerOf('x'.repeat(600)))).toBe(true)
  // The shortest-lived is dropped first.
  expect(await cache.put(keyOf(accountId, 'second'), 2 * HOUR_MS, 'req_3', answerOf('x'.repeat(900)))).toBe(true)
  expect(await redis.exists(`idempotency:{${accountId}}:claim:${first.digest}`)).toBe(0)
  expect((await claims.claim(claimant)).kind).toBe('kept')
  expect(await cache.put(keyOf(accountId, 'third'), 30 * HOUR_MS, 'req_4', answerOf('x'.repeat(1_700)))).toBe(true)
  expect((await claims.claim(claimant)).kind).toBe('spent')
  expect(await counted(accountId)).toMatchObject({ answers: 1 })
})

test('nothing is cached in a full Redis, or for an answer above the account’s share', async () => {
  const full = { memoryShare: 0.9, memoryLimit: 1e9 }
  const room = createRoom({ state: () => full, fullShare: 1, processes: 1 })
  const cache = createAnswerCache(run, createKeptAnswers({ run, room }))
  const key = keyOf(randomId('acct'), 'one')
  expect(await cache.put(key, HOUR_MS, 'req_1', answerOf('x'))).toBe(false)
  expect(await open(100).cache.put(key, HOUR_MS, 'req_1', answerOf('x'.repeat(200)))).toBe(false)
  expect(await cache.find(key, HOUR_MS)).toBeUndefined()
})
