/** Writing stored answers to Postgres: with changed settings, at the end of their time, in large amounts, failing stores. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { until } from '@test/support/until'
import { SHARED } from '@/limits/shared-resources'
import { lastWordsOf, refusal, responseOf, type StoreWorld, startStore, text } from './world'

let world: StoreWorld
let owner: string

beforeAll(async () => {
  world = await startStore()
  owner = await world.account()
})
afterAll(() => world.stop())

describe('an account’s storage setting', () => {
  const chosen = async (accountId: string, hours: number | null) => {
    await world.database.sql`UPDATE accounts SET stored_response_hours = ${hours} WHERE id = ${accountId}`
    await world.store.keepFor(accountId, hours)
  }

  test('an account that turns storage off loses its stored answers everywhere', async () => {
    const accountId = await world.account()
    const written = await world.answer(accountId, { input: 'Hello' })
    await world.isWritten(written.id)
    const copied = await world.answer(accountId, { input: 'Hello' })
    await chosen(accountId, 0)
    const late = await world.answer(accountId, { input: 'Hello' })
    expect(late.told.store).toBe(false)
    // The writer may have been about to write the copied one, and drops it then.
    const isEmpty = async () => (await world.store.standing(accountId)).kept === 0
    await until(isEmpty, 'what was on its way is gone')
    expect(await world.store.standing(accountId)).toEqual({ kept: 0, bytes: 0, hours: 0, maxHours: 720 })
    await chosen(accountId, null)
    await until(async () => (await world.answer(accountId, { input: 'x' })).told.store, 'it is stored again')
    for (const { id } of [written, copied]) {
      await until(
        () =>
          world.store.find(accountId, id).then(
            () => false,
            () => true,
          ),
        'it is gone',
      )
    }
  })

  test('a gateway respects a storage setting that changes while an answer is made', async () => {
    const accountId = await world.account()
    const { keep } = await world.resume(accountId, { input: 'Hello' })
    await world.database.sql`UPDATE accounts SET stored_response_hours = 0 WHERE id = ${accountId}`
    await keep?.(lastWordsOf({ id: 'resp_unwanted', status: 'completed', output: [] }), 'complete')
    await until(async () => (await world.redis.get(`resp:${accountId}:resp_unwanted`)) === '', 'its copy is gone')
    expect(await world.rowsOf(accountId)).toHaveLength(0)
  })

  test('an answer too large for a copy is deleted if storage is turned off while it is written', async () => {
    const accountId = await world.account()
    const { sql } = world.database
    await sql`INSERT INTO stored_response_totals (account_id, kept, bytes) VALUES (${accountId}, 0, 0)`
    const { keep } = await world.resume(accountId, { input: 'x'.repeat(100_000) })
    const lastWords = lastWordsOf({ id: 'resp_late', status: 'completed', store: true, output: [] })
    const kept = await sql.begin(async (holder) => {
      await holder`SELECT FROM stored_response_totals WHERE account_id = ${accountId} FOR UPDATE`
      const keeping = keep?.(lastWords, 'complete')
      const waiters = () =>
        sql`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
      await until(async () => (await waiters()).length === 1, 'the writer to wait')
      await chosen(accountId, 0)
      return { keeping }
    })
    expect(responseOf((await kept.keeping) ?? '').store).toBe(false)
    expect(await world.rowsOf(accountId)).toHaveLength(0)
    expect(await world.store.standing(accountId)).toMatchObject({ kept: 0, bytes: 0 })
  })

  test('a shorter storage time also applies to existing stored answers', async () => {
    const accountId = await world.account()
    const { id } = await world.answer(accountId, { input: 'Hello' })
    await world.isWritten(id)
    await chosen(accountId, 1)
    const [row] = await world.database.sql<{ hours: string }[]>`
      SELECT extract(epoch FROM expires_at - created_at) / 3600 AS hours FROM stored_responses WHERE id = ${id}`
    expect(Number(row?.hours)).toBe(1)
    expect(await world.store.standing(accountId)).toMatchObject({ kept: 1, hours: 1 })
  })

  test('an account above its limit loses its oldest answers', async () => {
    const small = await startStore({ databaseUrl: world.databaseUrl, maxBytes: 5_000 })
    try {
      const accountId = await small.account()
      const ids: string[] = []
      for (let count = 0; count < 8; count++) {
        const { id } = await small.answer(accountId, { input: 'x'.repeat(1_000) })
        ids.push(id)
        await until(async () => (await small.database.sql`SELECT FROM stored_responses WHERE id = ${id}`).length === 1)
      }
      await until(async () => (await small.store.standing(accountId)).bytes <= 5_000, 'it is within its limit')
      const left = await world.rowsOf(accountId)
      expect(left.map((row) => row.id).toSorted()).toEqual(ids.slice(-left.length).toSorted())
      expect(left.length).toBeGreaterThan(1)
      const [sums] = await world.database.sql`SELECT count(*)::int AS kept, sum(bytes)::int AS bytes
        FROM stored_responses WHERE account_id = ${accountId}`
      expect(await small.store.standing(accountId)).toMatchObject({ ...sums })
    } finally {
      await small.stop()
    }
  })
})

test('a stored answer expires in copies and history', async () => {
  let nowMs = Date.now()
  const moving = await startStore({ databaseUrl: world.databaseUrl, maxHours: 1, now: () => nowMs })
  const accountId = await moving.account()
  const old = await moving.answer(accountId, { input: 'Hello' })
  expect(JSON.parse(await moving.store.find(accountId, old.id)).id).toBe(old.id)
  await world.isWritten(old.id)
  nowMs += 3_600_001
  expect(await refusal(moving.store.find(accountId, old.id))).toMatchObject({ status: 404 })
  nowMs -= 2 * 3_600_001
  const past = await moving.answer(accountId, { input: 'Hello' }, [text('Hi', 'msg_past')])
  await world.isWritten(past.id)
  await moving.loseCopies(accountId)
  nowMs = Date.now()
  expect(await refusal(moving.store.find(accountId, past.id))).toMatchObject({ status: 404 })
  expect(await refusal(moving.resume(accountId, { previous_response_id: past.id }))).toMatchObject({ status: 400 })
  const named = { input: [{ type: 'item_reference', id: 'msg_past' }] }
  expect(await refusal(moving.resume(accountId, named))).toMatchObject({ status: 404 })
  await moving.stop()
  // The next start deletes what is over.
  const next = await startStore({ databaseUrl: world.databaseUrl, maxHours: 1 })
  const isGone = async () => (await world.rowsOf(accountId)).every(({ id }) => id !== past.id)
  await until(isGone, 'the expired row is deleted')
  expect(await next.store.standing(accountId)).toMatchObject({ kept: 1 })
  await next.stop()
})

describe('failing stores of answers', () => {
  test('if copies cannot be written, the answer is delayed, but nothing is lost', async () => {
    const broken = await startStore({
      databaseUrl: world.databaseUrl,
      copies: () => ({
        set: () => Promise.reject(new Error('down')),
        get: () => Promise.reject(new Error('down')),
        delete: () => Promise.reject(new Error('down')),
        isCrowded: () => false,
      }),
    })
    const { id, told } = await broken.answer(owner, { input: 'Hello' })
    expect(told.store).toBe(true)
    expect(JSON.parse(await broken.store.find(owner, id)).id).toBe(id)
    await broken.stop()
  })

  test('a failing Postgres is reported', async () => {
    const accountId = await world.account()
    const { keep } = await world.resume(accountId, { input: 'x'.repeat(100_000) })
    const lastWords = lastWordsOf({ id: 'resp_lost', status: 'completed', store: true, output: [] })
    await world.database.sql`ALTER TABLE stored_responses RENAME TO hidden_responses`
    try {
      expect(responseOf((await keep?.(lastWords, 'complete')) ?? '')).toMatchObject({ id: 'resp_lost', store: false })
      expect(await refusal(world.resume(accountId, { previous_response_id: 'resp_other' }))).toMatchObject({
        status: 503,
      })
    } finally {
      await world.database.sql`ALTER TABLE hidden_responses RENAME TO stored_responses`
    }
    expect(await refusal(world.store.find(accountId, 'resp_lost'))).toMatchObject({ status: 404 })
  })

  test('waiting answers are kept until Postgres is back', async () => {
    const accountId = await world.account()
    await world.database.sql`ALTER TABLE stored_responses RENAME TO hidden_responses`
    const { id, told } = await world.answer(accountId, { input: 'Hello' })
    await world.database.sql`ALTER TABLE hidden_responses RENAME TO stored_responses`
    expect(told.store).toBe(true)
    await world.isWritten(id)
  })
})

test('an account gets a quarter of the memory for copies; without a copy its answer is still stored', async () => {
  let isCrowded = false
  const shared = await startStore({
    databaseUrl: world.databaseUrl,
    copies: (whole) => ({ ...whole, isCrowded: () => isCrowded }),
  })
  const copyOf = async (accountId: string, id: string) => (await shared.redis.exists(`resp:${accountId}:${id}`)) === 1
  try {
    const [loud, quiet] = [await shared.account(), await shared.account()]
    const words = 'x'.repeat(60_000)
    let loudest = await shared.answer(loud, { input: words })
    for (let stored = 0; stored < SHARED.storedCopies.perAccount; stored += words.length)
      loudest = await shared.answer(loud, { input: words })
    expect([loudest.told.store, await copyOf(loud, loudest.id)]).toEqual([true, false])
    const own = await shared.answer(quiet, { input: words })
    expect([own.told.store, await copyOf(quiet, own.id)]).toEqual([true, true])
    isCrowded = true
    const next = await shared.answer(quiet, { input: words })
    expect([next.told.store, await copyOf(quiet, next.id)]).toEqual([true, false])
  } finally {
    await shared.stop()
  }
})

test('an account gets a quarter of the concurrent writes of stored answers', async () => {
  const crowded = await startStore({
    databaseUrl: world.databaseUrl,
    copies: (whole) => ({ ...whole, isCrowded: () => true }),
  })
  try {
    const [loud, quiet] = [await crowded.account(), await crowded.account()]
    const locked = Promise.withResolvers<void>()
    const over = Promise.withResolvers<void>()
    const lock = world.database.sql.begin(async (transaction) => {
      await transaction`LOCK TABLE stored_responses IN SHARE MODE`
      locked.resolve()
      await over.promise
    })
    await locked.promise
    const count = SHARED.storedWrites.perAccount
    const seen: unknown[] = []
    const answers = Array.from({ length: count + 1 }, async () => {
      const answer = await crowded.answer(loud, { input: 'Hello' })
      seen.push(answer.told.store)
      return answer
    })
    await until(() => seen.length > 0, 'one to be refused')
    expect(seen).toEqual([false])
    const own = crowded.answer(quiet, { input: 'Hello' })
    over.resolve()
    await lock
    const stored = (await Promise.all([...answers, own])).map(({ told }) => told.store)
    expect(stored.filter((isStored) => isStored === false)).toHaveLength(1)
    expect((await own).told.store).toBe(true)
  } finally {
    await crowded.stop()
  }
})
