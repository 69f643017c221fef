/** What a request continues: chains of stored answers and named items, complete or refused, for any ids. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { spend } from '@test/support/delays'
import { until } from '@test/support/until'
import type { JsonObject } from '@/lib/json'
import { readInputPage } from '@/stored-responses/input-page'
import { MAX_CHAIN_LINKS } from '@/stored-responses/limits'
import { refusal, type StoreWorld, said, startStore, text } from './world'

const WHOLE = { order: 'asc', limit: 100, after: null } as const

let world: StoreWorld
let owner: string

beforeAll(async () => {
  world = await startStore()
  owner = await world.account()
})
afterAll(() => world.stop())

describe('a chain', () => {
  async function chainOf(accountId: string, links: number): Promise<string[]> {
    const ids: string[] = []
    for (let link = 0; link < links; link++) {
      const body = { input: `in ${link}`, ...(link > 0 && { previous_response_id: ids.at(-1) ?? null }) }
      ids.push((await world.answer(accountId, body, [text(`out ${link}`)])).id)
    }
    return ids
  }

  test('a chain of fifty stored answers is complete, from copies and history', async () => {
    const accountId = await world.account()
    const ids = await chainOf(accountId, 50)
    const expected = Array.from({ length: 50 }, (_, link) => [`in ${link}`, `out ${link}`]).flat()
    const last = ids.at(-1) ?? ''
    const copied = await world.resume(accountId, { input: 'end', previous_response_id: last })
    expect(said(copied.body.input)).toEqual([...expected, 'end'])
    await world.isWritten(last)
    await world.loseCopies(accountId)
    const written = await world.resume(accountId, { input: 'end', previous_response_id: last })
    expect(said(written.body.input)).toEqual([...expected, 'end'])
    expect(said((await world.store.findInput(accountId, last, WHOLE)).items)).toEqual([...expected.slice(0, -1)])
  })

  test('after an answer was deleted, later answers of its chain cannot be continued, earlier ones can', async () => {
    const accountId = await world.account()
    const ids = await chainOf(accountId, 3)
    const [first = '', middle = '', last = ''] = ids
    await world.store.delete(accountId, middle)
    for (const round of ['copied', 'written']) {
      if (round === 'written') {
        await world.isWritten(last)
        await world.loseCopies(accountId)
      }
      const gone = await refusal(world.resume(accountId, { input: 'x', previous_response_id: last }))
      expect(gone).toMatchObject({ status: 400, code: 'previous_response_not_found' })
      const before = await world.resume(accountId, { input: 'x', previous_response_id: first })
      expect(said(before.body.input)).toEqual(['in 0', 'out 0', 'x'])
      expect(said((await world.store.findInput(accountId, last, WHOLE)).items)).toEqual(['in 2'])
      expect(await refusal(world.store.delete(accountId, middle))).toMatchObject({ status: 404 })
    }
    await until(
      async () => (await world.rowsOf(accountId)).length === 2,
      'the row that was deleted before it was written',
    )
  })

  test('if an answer is deleted while its page is read, the chain begins after it', async () => {
    const accountId = await world.account()
    const [, middle = '', last = ''] = await chainOf(accountId, 3)
    await world.isWritten(last)
    await world.loseCopies(accountId)
    let isDeleted = false
    const { sql } = world.database
    const deleting = async (texts: TemplateStringsArray, ...values: never[]) => {
      const rows = await sql(texts, ...values)
      if (!isDeleted && texts.join('').includes('input_items AS "inputItems"')) {
        isDeleted = true
        await world.store.delete(accountId, middle)
      }
      return rows
    }
    const between = (texts: TemplateStringsArray, ...values: never[]) =>
      texts.join('').includes('RECURSIVE') ? deleting(texts, ...values) : sql(texts, ...values)
    const database = { ...world.database, sql: between as unknown as typeof sql }
    const copies = { find: async () => undefined }
    expect(said((await readInputPage({ database, copies }, accountId, last, WHOLE)).items)).toEqual(['in 2'])
    expect(isDeleted).toBe(true)
  })

  test('a chain of stored answers that is too long is refused before it is read', async () => {
    const accountId = await world.account()
    const head = await world.answer(accountId, { input: 'x' })
    await world.isWritten(head.id)
    await world.database.sql`
      INSERT INTO stored_responses (account_id, id, key_id, parent_id, model, input, answer, bytes, json_values, input_items, output_items, created_at, expires_at)
      SELECT ${accountId}, 'resp_' || place, 'key_1', CASE WHEN place = 1 THEN ${head.id} ELSE 'resp_' || place - 1 END,
        'm', '[]', '{}', 4, 2, 0, 0, now(), now() + interval '1 hour' FROM generate_series(1, ${MAX_CHAIN_LINKS}) AS place`
    const within = `resp_${MAX_CHAIN_LINKS - 1}`
    expect(said((await world.resume(accountId, { previous_response_id: within })).body.input)).toHaveLength(2)
    const beyond = world.resume(accountId, { previous_response_id: `resp_${MAX_CHAIN_LINKS}` })
    expect(await refusal(beyond)).toMatchObject({ status: 400, code: 'chain_too_large' })
    await world.database
      .sql`UPDATE stored_responses SET bytes = 17000000 WHERE id = 'resp_1' AND account_id = ${accountId}`
    const heavy = world.resume(accountId, { previous_response_id: 'resp_2' })
    expect(await refusal(heavy)).toMatchObject({ status: 400, code: 'chain_too_large' })
  })
})

describe('named items', () => {
  const call = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'add', arguments: '{}' }
  const thought = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'proof' }

  test('each item reference, even one without a type, is replaced by the stored item, also if that was an input item', async () => {
    const accountId = await world.account()
    const input = [{ type: 'message', role: 'user', id: 'msg_in', content: 'Hello' }]
    await world.answer(accountId, { input }, [thought, call])
    const next: JsonObject[] = [
      { type: 'item_reference', id: 'rs_1' },
      { id: 'fc_1' },
      { type: 'function_call_output', call_id: 'call_1', output: '3' },
    ]
    const { body, leftOut } = await world.resume(accountId, { input: next })
    expect(body.input).toEqual([thought, call, next[2]] as JsonObject[])
    expect(leftOut).toEqual([])
    await until(async () => (await world.rowsOf(accountId)).length === 1, 'the row')
    const named = await world.resume(accountId, { input: [{ type: 'item_reference', id: 'msg_in' }] })
    expect(said(named.body.input)).toEqual(['Hello'])
  })

  test('named items are stored with the request, and outlive their answer', async () => {
    const accountId = await world.account()
    const first = await world.answer(accountId, { input: 'Hello' }, [text('Hi', 'msg_first')])
    const second = await world.answer(accountId, { input: [{ type: 'item_reference', id: 'msg_first' }] }, [text('Ho')])
    await world.store.delete(accountId, first.id)
    expect(said((await world.store.findInput(accountId, second.id, WHOLE)).items)).toEqual(['Hi'])
  })

  test('named reasoning that was deleted is omitted; other missing items are an error', async () => {
    const accountId = await world.account()
    const message = { role: 'user', content: 'So?' }
    const { body, leftOut } = await world.resume(accountId, {
      input: [{ type: 'item_reference', id: 'rs_9' }, message],
    })
    expect(body.input).toEqual([message])
    expect(leftOut).toEqual(['input.item_reference'])
    for (const id of ['msg_9', 'fc_9', 'rs', "msg_'; DROP TABLE accounts; --", 'x'.repeat(100_000), '__proto__', '']) {
      const gone = await refusal(world.resume(accountId, { input: [message, { type: 'item_reference', id }] }))
      expect(gone).toMatchObject({ status: 404, param: 'input[1].id' })
      expect(gone.message).toStartWith(`Item with id '${id.slice(0, 128)}' not found.`)
    }
  })

  test('if the id of a named item occurs twice, the newest item is used', async () => {
    const accountId = await world.account()
    await world.answer(accountId, { input: 'a' }, [text('old', 'msg_same')])
    // Until the clock moves.
    await spend(2)
    const { id } = await world.answer(accountId, { input: 'b' }, [text('new', 'msg_same')])
    await world.isWritten(id)
    for (const round of ['copied', 'written']) {
      if (round === 'written') await world.loseCopies(accountId)
      const { body } = await world.resume(accountId, { input: [{ type: 'item_reference', id: 'msg_same' }] })
      expect(said(body.input)).toEqual(['new'])
    }
  })
})

describe('ids that the gateway did not make', () => {
  test.each([
    ['a quote', "resp_' OR '1'='1"],
    ['a pattern', 'resp_%'],
    ['a path', '../../etc/passwd'],
    ['a million characters', 'x'.repeat(1_000_000)],
    ['another name of the store', 'item:msg_1'],
    ['the mark that everything is deleted', 'all:deleted'],
    ['nothing', ''],
    ['a prototype property', '__proto__'],
    ['a NUL', 'resp_\u0000'],
  ])('an id that the gateway did not make finds nothing: %s', async (_, id) => {
    expect(await refusal(world.store.find(owner, id))).toMatchObject({ status: 404 })
    expect(await refusal(world.store.delete(owner, id))).toMatchObject({ status: 404 })
    const named = await refusal(world.resume(owner, { input: 'x', previous_response_id: id }))
    expect(named).toMatchObject({ status: 400 })
    expect(named.message.length).toBeLessThan(200)
  })

  test.each([7, {}, [], true])('an item id that is not text is refused: %p', async (id) => {
    const named = refusal(world.resume(owner, { input: 'x', previous_response_id: id as JsonObject }))
    expect(await named).toMatchObject({ status: 400, param: 'previous_response_id' })
  })
})
