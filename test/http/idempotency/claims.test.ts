/** Claims of idempotency keys in Redis: one winner, limited space, oldest answers dropped first, and one cluster slot per account. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startCluster } from '@test/ledger/cluster-stores'
import { connect } from '@test/ledger/harness'
import { asGateway, redisUrl } from '@test/support/stores'
import { until } from '@test/support/until'
import { Redis } from 'ioredis'
import { type Claimant, createClaims } from '@/http/idempotency/claims'
import { KEEP_MS, type RunScript } from '@/http/idempotency/kept-answers'
import { createRoom, LEAST_ACCOUNT_BYTES, LEAST_CLAIMS } from '@/http/idempotency/room'
import { randomId } from '@/lib/ids'
import { SHARED } from '@/limits/shared-resources'

let redis: Redis
/** Looks around, which the gateway's own rights do not allow. */
let administrator: Redis
/** Every name that a script was given. */
const names: string[] = []

beforeAll(async () => {
  administrator = new Redis(await redisUrl())
  redis = new Redis(asGateway(await redisUrl()))
})
afterAll(() => {
  administrator.disconnect()
  redis.disconnect()
})

const run: RunScript = (text, keys, args) => {
  names.push(...keys)
  return redis.eval(text, keys.length, ...keys, ...args)
}

/** A store in which no other test's accounts are: whoever makes room there has those who keep most give back, whosever they are. */
function ownStore(): { run: RunScript; heaviest: string } {
  const heaviest = `idempotency:{${randomId('accounts')}}:kept`
  const renamed = (name: string) => (name === 'idempotency:{accounts}:kept' ? heaviest : name)
  return { heaviest, run: (text, keys, args) => run(text, keys.map(renamed), args) }
}

function open(limits: { claims?: number; accountBytes?: number } = {}) {
  const most = { claims: SHARED.idempotencyKeys.perAccount, accountBytes: SHARED.keptAnswers.perAccount }
  return createClaims({ run: ownStore().run, limits: { ...most, ...limits } })
}

function claimantOf(accountId: string, idempotencyKey: string): Claimant {
  return { accountId, keyId: 'key_1', idempotencyKey, fingerprint: 'f'.repeat(64), requestId: randomId('req') }
}

const ANSWER = {
  status: 200,
  headers: [['content-type', 'application/json']] as [string, string][],
  body: 'é'.repeat(500),
}

test('of many concurrent claims of a key, one wins, and the others learn which', async () => {
  const claims = open()
  const accountId = randomId('acct')
  const all = Array.from({ length: 50 }, () => claimantOf(accountId, 'one'))
  const outcomes = await Promise.all(all.map(claims.claim))
  const winner = all[outcomes.findIndex(({ kind }) => kind === 'claimed')]
  expect(outcomes.filter(({ kind }) => kind === 'claimed')).toHaveLength(1)
  expect(outcomes.filter((outcome) => outcome.kind === 'open' && outcome.requestId === winner?.requestId)).toHaveLength(
    49,
  )
})

test('the claim of a dead request is taken over once, and the dead request cannot write any more', async () => {
  const claims = open()
  const dead = claimantOf(randomId('acct'), 'one')
  await claims.claim(dead)
  const heirs = Array.from({ length: 20 }, () => ({ ...dead, requestId: randomId('req') }))
  const taken = await Promise.all(heirs.map((heir) => claims.takeOver(heir, dead.requestId)))
  expect(taken.filter(Boolean)).toHaveLength(1)
  expect(await claims.keep(dead, ANSWER)).toBe(false)
  await claims.free(dead)
  await claims.spend(dead)
  expect(await claims.claim(dead)).toMatchObject({ kind: 'open', requestId: heirs[taken.indexOf(true)]?.requestId })
})

test('stored answers and their counters last a day', async () => {
  const claims = open()
  const claimant = claimantOf(randomId('acct'), 'one')
  await claims.claim(claimant)
  expect(await claims.keep(claimant, ANSWER)).toBe(true)
  expect(await claims.claim({ ...claimant, requestId: 'req_2' })).toEqual({
    ...{ kind: 'kept', requestId: claimant.requestId, answer: ANSWER },
  })
  expect(await claims.claim({ ...claimant, fingerprint: 'e'.repeat(64) })).toMatchObject({ kind: 'reused' })
  const stored = (await administrator.keys(`idempotency:{${claimant.accountId}}:*`)).sort()
  expect(stored.map((name) => name.replace(/^.*}:/, '').replace(/[0-9a-f]{64}/, 'DIGEST'))).toEqual([
    ...['answers', 'bytes', 'claim:DIGEST', 'claims'],
  ])
  for (const name of stored) {
    const leftMs = await redis.pttl(name)
    expect(leftMs).toBeGreaterThan(KEEP_MS - 60_000)
    expect(leftMs).toBeLessThanOrEqual(KEEP_MS)
  }
})

test('an account at its limit of idempotency keys is refused until the oldest expires; a released key makes room', async () => {
  const claims = open({ claims: 2 })
  const accountId = randomId('acct')
  const [one, two, three] = ['one', 'two', 'three'].map((key) => claimantOf(accountId, key)) as Claimant[]
  if (!one || !two || !three) throw new Error('there are three')
  await claims.claim(one)
  await claims.claim(two)
  const outcome = await claims.claim(three)
  expect(outcome.kind === 'full' && outcome.retryAfterMs).toBeGreaterThan(KEEP_MS - 60_000)
  expect(await claims.claim({ ...one, requestId: 'req_2' })).toMatchObject({ kind: 'open' })
  await claims.free(one)
  expect(await claims.claim(three)).toEqual({ kind: 'claimed' })
})

test('above an account’s limit of bytes, its oldest answers are dropped; their keys stay used', async () => {
  const claims = open({ accountBytes: 250 * 1_100 })
  const accountId = randomId('acct')
  const all = Array.from({ length: 400 }, (_, index) => claimantOf(accountId, `key-${index}`))
  for (const claimant of all) {
    expect(await claims.claim(claimant)).toEqual({ kind: 'claimed' })
    expect(await claims.keep(claimant, ANSWER)).toBe(true)
  }
  const kinds = await Promise.all(all.map(async (claimant) => (await claims.claim(claimant)).kind))
  // In between, several were kept in the same millisecond.
  expect(new Set(kinds.slice(0, 100))).toEqual(new Set(['spent']))
  expect(new Set(kinds.slice(-150))).toEqual(new Set(['kept']))
  expect(kinds.filter((kind) => kind === 'kept').length).toBeGreaterThan(200)
  const bytes = Number(await redis.get(`idempotency:{${accountId}}:bytes`))
  expect(bytes).toBeLessThanOrEqual(250 * 1_100)
  // One that fills all of the room takes all of it, however many there were.
  const large = claimantOf(accountId, 'large')
  await claims.claim(large)
  expect(await claims.keep(large, { ...ANSWER, body: 'x'.repeat(249 * 1_100) })).toBe(true)
  const huge = claimantOf(accountId, 'huge')
  await claims.claim(huge)
  expect(await claims.keep(huge, { ...ANSWER, body: 'x'.repeat(251 * 1_100) })).toBe(false)
})

test('the fuller Redis is, the fewer answers are stored, down to a minimum; a nearly full Redis stores none', async () => {
  const memory = { memoryShare: 0.1, memoryLimit: 0 }
  const room = createRoom({ state: () => ({ ...memory }), fullShare: 0.8, processes: 1 })
  const body = 'x'.repeat(LEAST_ACCOUNT_BYTES / 2)
  const limits = { claims: 9, accountBytes: 8 * LEAST_ACCOUNT_BYTES }
  const claims = createClaims({ run: ownStore().run, limits, room })
  const accountId = randomId('acct')
  const keep = async (key: string) => {
    const claimant = claimantOf(accountId, key)
    await claims.claim(claimant)
    const isKept = await claims.keep(claimant, { ...ANSWER, body })
    if (!isKept) await claims.spend(claimant)
    return isKept
  }
  const kinds = async (...keys: string[]) =>
    Promise.all(keys.map(async (key) => (await claims.claim(claimantOf(accountId, key))).kind))
  expect([await keep('one'), await keep('two'), await keep('three')]).toEqual([true, true, true])
  memory.memoryShare = 0.5
  expect(await keep('four')).toBe(true)
  expect(await kinds('one', 'two', 'three', 'four')).toEqual(['spent', 'spent', 'spent', 'kept'])
  memory.memoryShare = 0.7
  expect(await keep('five')).toBe(false)
  expect(await kinds('five')).toEqual(['spent'])
})

test('if other accounts fill Redis, the accounts that store most lose their oldest answers', async () => {
  const memory = { memoryShare: 0, memoryLimit: 0 }
  const room = createRoom({ state: () => ({ ...memory }), fullShare: 0.8, processes: 1 })
  const store = ownStore()
  const limits = { claims: 99, accountBytes: 64 * LEAST_ACCOUNT_BYTES }
  const claims = createClaims({ run: store.run, limits, room })
  const keep = async (accountId: string, key: string, bytes: number) => {
    const claimant = claimantOf(accountId, key)
    await claims.claim(claimant)
    return claims.keep(claimant, { ...ANSWER, body: 'x'.repeat(bytes) })
  }
  const [heavy, light] = [randomId('acct'), randomId('acct')]
  for (const key of ['one', 'two', 'three', 'four']) await keep(heavy, key, 4 * LEAST_ACCOUNT_BYTES)
  expect(await keep(light, 'mine', LEAST_ACCOUNT_BYTES / 2)).toBe(true)
  await until(
    async () => Number(await redis.zscore(store.heaviest, heavy)) > 16 * LEAST_ACCOUNT_BYTES,
    'all that the heavy one keeps to be noted',
  )
  // What has grown since belongs to others, and somebody's answer finds no room.
  memory.memoryShare = 0.35
  expect(await keep(light, 'large', 32 * LEAST_ACCOUNT_BYTES)).toBe(false)
  const kept = async (accountId: string) => Number(await redis.get(`idempotency:{${accountId}}:bytes`))
  await until(async () => (await kept(heavy)) < 9 * LEAST_ACCOUNT_BYTES, 'the oldest to be dropped')
  const kindOf = async (accountId: string, key: string) => (await claims.claim(claimantOf(accountId, key))).kind
  expect([await kindOf(heavy, 'one'), await kindOf(heavy, 'four')]).toEqual(['spent', 'kept'])
  expect(await kindOf(light, 'mine')).toBe('kept')
})

test('all stored bytes of an account are counted, also those that arrive during a count', async () => {
  const store = ownStore()
  const claims = createClaims({ run: store.run })
  const accountId = randomId('acct')
  const keep = async (key: string) => {
    const claimant = claimantOf(accountId, key)
    await claims.claim(claimant)
    return claims.keep(claimant, { ...ANSWER, body: 'x'.repeat(2 * LEAST_ACCOUNT_BYTES) })
  }
  expect(await Promise.all(['one', 'two', 'three', 'four', 'five'].map(keep))).toEqual(Array(5).fill(true))
  const kept = await redis.get(`idempotency:{${accountId}}:bytes`)
  expect(Number(kept)).toBeGreaterThan(10 * LEAST_ACCOUNT_BYTES)
  await until(async () => (await redis.zscore(store.heaviest, accountId)) === kept, 'all of it to be noted')
})

test('without a maxmemory in Redis, an account stores no more than its limit', () => {
  const room = createRoom({ state: () => ({ memoryShare: 0, memoryLimit: 0 }), fullShare: 0.8, processes: 1 })
  room.taking(1_000_000_000)
  const most = SHARED.keptAnswers.perAccount
  expect([room.answerBytes(most), room.leftBytes(most)]).toEqual([most, most])
})

test('a nearly full Redis allows fewer idempotency keys, never below the minimum', () => {
  const claimsAt = (memoryShare: number) =>
    createRoom({ state: () => ({ memoryShare, memoryLimit: 0 }), fullShare: 0.8, processes: 1 }).claims(50_000)
  expect([claimsAt(0), claimsAt(0.4), claimsAt(0.5), claimsAt(0.6), claimsAt(0.9)]).toEqual([
    ...[50_000, 50_000, 25_000, LEAST_CLAIMS, LEAST_CLAIMS],
  ])
})

test('answers that are still being written are counted in all processes', () => {
  let memory = { memoryShare: 0, memoryLimit: 1_000_000 }
  const room = createRoom({ state: () => memory, fullShare: 0.8, processes: 2 })
  expect(room.answerBytes(10_000_000)).toBe(10_000_000)
  room.taking(100_000)
  expect(room.answerBytes(10_000_000)).toBe(5_000_000)
  expect(room.leftBytes(10_000_000)).toBe(10_000_000)
  // The look that came next may not have seen all of it.
  memory = { ...memory }
  expect(room.answerBytes(10_000_000)).toBe(5_000_000)
  memory = { ...memory }
  expect(room.answerBytes(10_000_000)).toBe(10_000_000)
})

test('all Redis keys of an account are in one cluster slot, and no part of an idempotency key is stored', async () => {
  const claims = open()
  names.length = 0
  const accountId = randomId('acct')
  const claimant = claimantOf(accountId, 'key-canary {other} 0123')
  await claims.claim(claimant)
  await claims.keep(claimant, ANSWER)
  expect(new Set(names.map((name) => /\{([^}]*)\}/.exec(name)?.[1]))).toEqual(new Set([accountId]))
  expect(names.join()).not.toContain('canary')
  expect(JSON.stringify(await redis.hgetall(names[0] ?? ''))).not.toContain('canary')
})

test('every step of a claim works on a Redis Cluster, for accounts on all nodes', async () => {
  const cluster = await startCluster(3)
  const client = await connect(cluster.url)
  try {
    const claims = createClaims({
      run: (text, keys, args) => client.eval(text, keys.length, ...keys, ...args),
      limits: { claims: 99, accountBytes: 2_500 },
    })
    for (let account = 0; account < 20; account++) {
      const accountId = randomId('acct')
      const [one, two, three] = ['one', 'two', 'three'].map((key) => claimantOf(accountId, key)) as [
        Claimant,
        Claimant,
        Claimant,
      ]
      for (const claimant of [one, two, three]) {
        expect(await claims.claim(claimant)).toEqual({ kind: 'claimed' })
        expect(await claims.keep(claimant, ANSWER)).toBe(true)
      }
      expect(await claims.claim(three)).toMatchObject({ kind: 'kept', answer: ANSWER })
      const kinds = await Promise.all([one, two].map(async (claimant) => (await claims.claim(claimant)).kind))
      expect(kinds.sort()).toEqual(['kept', 'spent'])
      const dead = claimantOf(accountId, 'dead')
      await claims.claim(dead)
      expect(await claims.takeOver({ ...dead, requestId: 'req_heir' }, dead.requestId)).toBe(true)
    }
  } finally {
    client.disconnect()
    await cluster.stop()
  }
})
