/** Stored answers: found only by their own account; an answer that is not stored says so. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { MAX_STORED_BYTES } from '@/stored-responses/limits'
import { lastWordsOf, refusal, responseOf, type StoreWorld, said, startStore, text } from './world'

const WHOLE = { order: 'asc', limit: 100, after: null } as const

let world: StoreWorld
let owner: string

beforeAll(async () => {
  world = await startStore()
  owner = await world.account()
})
afterAll(() => world.stop())

describe('a stored answer', () => {
  test('an answer is stored before it is sent, and equals the sent one', async () => {
    const { id, told } = await world.answer(owner, { input: 'Hello' })
    expect(told.store).toBe(true)
    expect(JSON.parse(await world.store.find(owner, id))).toEqual(told)
  })

  test('stored answers are put before the input of the next request that names them, oldest first', async () => {
    const first = await world.answer(owner, { input: 'Hello', instructions: 'Be brief.' }, [text('Hi')])
    const second = await world.answer(owner, { input: 'And?', previous_response_id: first.id }, [text('Well')])
    expect(second.told.previous_response_id).toBe(first.id)
    const { body } = await world.resume(owner, {
      input: [{ role: 'user', content: 'So?' }],
      previous_response_id: second.id,
    })
    expect(said(body.input)).toEqual(['Hello', 'Hi', 'And?', 'Well', 'So?'])
    expect(body.previous_response_id).toBeUndefined()
    expect(body.instructions).toBeUndefined()
  })

  test('a stored answer counts as input of the next request', async () => {
    const first = await world.answer(owner, { input: 'x'.repeat(10_000) })
    const { bytes } = await world.resume(owner, { input: 'And?', previous_response_id: first.id })
    expect(bytes).toBeGreaterThan(10_000)
  })

  test('a stored answer is not found by another account', async () => {
    const other = await world.account()
    const { id } = await world.answer(owner, { input: 'Secret' }, [text('Secret', 'msg_of_owner')])
    await world.isWritten(id)
    for (const round of ['copied', 'written']) {
      if (round === 'written') await world.loseCopies(owner)
      const unknown = { status: 404, message: `Response with id '${id}' not found.` }
      expect(await refusal(world.store.find(other, id))).toEqual(unknown)
      expect(await refusal(world.store.findInput(other, id, WHOLE))).toEqual(unknown)
      expect(await refusal(world.store.delete(other, id))).toEqual(unknown)
      expect(await refusal(world.resume(other, { input: 'x', previous_response_id: id }))).toMatchObject({
        status: 400,
        code: 'previous_response_not_found',
        param: 'previous_response_id',
        message: `Previous response with id '${id}' not found.`,
      })
      const named = { input: [{ type: 'item_reference', id: 'msg_of_owner' }] }
      expect(await refusal(world.resume(other, named))).toMatchObject({ status: 404, param: 'input[0].id' })
    }
    expect(JSON.parse(await world.store.find(owner, id)).id).toBe(id)
  })

  test('if its cached copy is lost, a stored answer is read from Postgres, also by another gateway', async () => {
    const first = await world.answer(owner, { input: 'Hello' }, [text('Hi', 'msg_twin')])
    const second = await world.answer(owner, { input: 'And?', previous_response_id: first.id }, [text('Well')])
    const twin = await startStore({ databaseUrl: world.databaseUrl })
    try {
      await world.isWritten(second.id)
      await world.loseCopies(owner)
      const { body } = await twin.resume(owner, { input: 'So?', previous_response_id: second.id })
      expect(said(body.input)).toEqual(['Hello', 'Hi', 'And?', 'Well', 'So?'])
      const named = await twin.resume(owner, { input: [{ type: 'item_reference', id: 'msg_twin' }] })
      expect(said(named.body.input)).toEqual(['Hi'])
    } finally {
      await twin.stop()
    }
  })

  test('stopping the gateway writes the waiting answers', async () => {
    const leaving = await startStore({ databaseUrl: world.databaseUrl })
    const { id } = await leaving.answer(owner, { input: 'Last words' })
    await leaving.stop()
    expect(await world.database.sql`SELECT FROM stored_responses WHERE id = ${id}`).toHaveLength(1)
  })

  test('a stored answer keeps the digits of its numbers', async () => {
    const body = { input: [{ role: 'user', content: [{ type: 'input_text', text: 'x', odd: 1 }] }] }
    const { keep } = await world.resume(owner, body)
    const lastWords = lastWordsOf({ id: 'resp_digits', status: 'completed', output: [], odd: 1 })
    await keep?.(lastWords.replace('"odd":1', '"odd":1098765432109876543.10'), 'complete')
    expect(await world.store.find(owner, 'resp_digits')).toContain('"odd":1098765432109876543.10')
  })
})

describe('answers that are not stored', () => {
  test.each([
    ['an answer whose caller does not want it stored', { store: false, input: 'Hello' }],
    ['an answer that is too large', { input: 'x'.repeat(MAX_STORED_BYTES + 1) }],
  ])('%s is not stored: the answer says so, and its id is unknown', async (_, body) => {
    const accountId = await world.account()
    const { id, told } = await world.answer(accountId, body)
    expect(told.store).toBe(false)
    expect(await refusal(world.store.find(accountId, id))).toMatchObject({ status: 404 })
    expect(await world.redis.keys(`resp:${accountId}:*`)).toEqual([])
  })

  test('an answer too large to store is recognized at its end only', async () => {
    const accountId = await world.account()
    const { id, told } = await world.answer(accountId, { input: 'Hello' }, [text('x'.repeat(MAX_STORED_BYTES))])
    expect(told).toMatchObject({ id, store: false })
    expect(await refusal(world.store.find(accountId, id))).toMatchObject({ status: 404 })
  })

  test('a failed answer is not stored; an answer shortened by its limit is stored', async () => {
    const accountId = await world.account()
    const { keep } = await world.resume(accountId, { input: 'Hello' })
    const failed = lastWordsOf({ id: 'resp_failed', status: 'failed', output: [] })
    expect(await keep?.(failed, 'complete')).toBe(failed)
    expect(await refusal(world.store.find(accountId, 'resp_failed'))).toMatchObject({ status: 404 })
    await keep?.(lastWordsOf({ id: 'resp_cut', status: 'incomplete', output: [] }), 'complete')
    expect(JSON.parse(await world.store.find(accountId, 'resp_cut')).status).toBe('incomplete')
  })

  test('an answer cut for its length is not stored', async () => {
    const { keep } = await world.resume(owner, { input: 'Hello' })
    const lastWords = lastWordsOf({ id: 'resp_long', status: 'incomplete', store: true, output: [] })
    expect(responseOf((await keep?.(lastWords, 'cut')) ?? '')).toMatchObject({ id: 'resp_long', store: false })
    expect(await refusal(world.store.find(owner, 'resp_long'))).toMatchObject({ status: 404 })
  })

  test('a request that is not stored may continue a stored answer', async () => {
    const first = await world.answer(owner, { input: 'Hello' }, [text('Hi')])
    const { body, keep, echo } = await world.resume(owner, { input: 'x', store: false, previous_response_id: first.id })
    expect(said(body.input)).toEqual(['Hello', 'Hi', 'x'])
    expect(keep).toBeUndefined()
    expect(echo).toEqual({ store: false, previous_response_id: first.id })
  })

  test('nothing is stored if the operator turned storage off', async () => {
    const off = await startStore({ databaseUrl: world.databaseUrl, maxHours: 0 })
    try {
      const { id, told } = await off.answer(owner, { input: 'Hello' })
      expect(told.store).toBe(false)
      expect(await refusal(off.store.find(owner, id))).toMatchObject({ status: 404 })
      expect(await refusal(off.resume(owner, { input: 'x', previous_response_id: id }))).toMatchObject({
        ...{ status: 400, code: 'storage_disabled', param: 'previous_response_id' },
      })
      const input = [
        { type: 'item_reference', id: 'rs_1' },
        { role: 'user', content: 'So?' },
      ]
      expect(said((await off.resume(owner, { input })).body.input)).toEqual(['So?'])
    } finally {
      await off.stop()
    }
  })
})
