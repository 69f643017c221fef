/** Stored answers whose time is over: found by nobody, and deleted. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { until } from '@test/support/until'
import { refusal, type StoreWorld, startStore, text } from './world'

let world: StoreWorld

beforeAll(async () => {
  world = await startStore()
})
afterAll(() => world.stop())

const rowsOf = async (accountId: string) =>
  await world.database.sql`SELECT id FROM stored_responses WHERE account_id = ${accountId}`
const isWritten = (id: string) =>
  until(async () => (await world.database.sql`SELECT FROM stored_responses WHERE id = ${id}`).length === 1, 'the row')

describe('the storage time', () => {
  test('a stored answer expires in copies and history', async () => {
    let nowMs = Date.now()
    const moving = await startStore({ databaseUrl: world.databaseUrl, maxHours: 1, now: () => nowMs })
    const accountId = await moving.account()
    const old = await moving.answer(accountId, { input: 'Hello' })
    expect(JSON.parse(await moving.store.find(accountId, old.id)).id).toBe(old.id)
    await isWritten(old.id)
    nowMs += 3_600_001
    expect(await refusal(moving.store.find(accountId, old.id))).toMatchObject({ status: 404 })
    nowMs -= 2 * 3_600_001
    const past = await moving.answer(accountId, { input: 'Hello' }, [text('Hi', 'msg_past')])
    await isWritten(past.id)
    await moving.loseCopies(accountId)
    nowMs = Date.now()
    expect(await refusal(moving.store.find(accountId, past.id))).toMatchObject({ status: 404 })
    expect(await refusal(moving.resume(accountId, { previous_response_id: past.id }))).toMatchObject({ status: 400 })
    const named = { input: [{ type: 'item_reference', id: 'msg_past' }] }
    expect(await refusal(moving.resume(accountId, named))).toMatchObject({ status: 404 })
    await moving.stop()
    // The next start deletes what is over.
    const next = await startStore({ databaseUrl: world.databaseUrl, maxHours: 1 })
    const isGone = async () => (await rowsOf(accountId)).every(({ id }) => id !== past.id)
    await until(isGone, 'the expired row is deleted')
    expect(await next.store.standing(accountId)).toMatchObject({ kept: 1 })
    await next.stop()
  })
})
