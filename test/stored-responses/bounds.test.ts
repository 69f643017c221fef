/** Limits on stored input that a request names and on what may be stored for free: checked before anything is read. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { until } from '@test/support/until'
import { GatewayError } from '@/chat/error'
import type { JsonObject } from '@/lib/json'
import { MAX_CHAIN_BYTES, MAX_CHAIN_VALUES } from '@/stored-responses/limits'
import type { StoredSum } from '@/stored-responses/stored-items'
import { refusal, type StoreWorld, said, startStore, text } from './world'

const MEGABYTE = 1_000_000

let world: StoreWorld
/** What the store was asked for since the test began. */
let asked: string[] = []
/** What was announced before it was read. */
let announced: StoredSum[] = []
let refuses = false

beforeAll(async () => {
  world = await startStore({
    copies: (whole) => ({
      ...whole,
      get(name) {
        asked.push(name)
        return whole.get(name)
      },
    }),
    async beforeReading(sum) {
      announced.push(sum)
      if (refuses) throw new GatewayError('insufficient_credit', 'No.')
    },
  })
})
afterAll(() => world.stop())
beforeEach(() => {
  asked = []
  announced = []
  refuses = false
})

/** An account with one stored answer of so many characters, whose item is `msg_big`. */
async function accountWith(characters: number): Promise<string> {
  const accountId = await world.account()
  const { id } = await world.answer(accountId, { input: 'Hi' }, [text('x'.repeat(characters), 'msg_big')])
  await world.isWritten(id)
  asked = []
  announced = []
  return accountId
}

const named = (times: number): JsonObject[] => Array.from({ length: times }, () => ({ id: 'msg_big' }))

describe('an item named many times', () => {
  test('an item named ten thousand times counts each time, and the request is refused before a look-up', async () => {
    const accountId = await accountWith(3_800_000)
    const refused = await refusal(world.resume(accountId, { input: named(10_000) }))
    expect(refused).toMatchObject({ status: 400, param: 'input' })
    expect([asked, announced]).toEqual([[], []])
  })

  test('an item named many times is refused by its total size before it is read', async () => {
    const accountId = await accountWith(3_800_000)
    const refused = await refusal(world.resume(accountId, { input: named(5) }))
    expect(refused).toMatchObject({ status: 400, code: 'chain_too_large' })
    expect(announced).toEqual([])
    expect(said((await world.resume(accountId, { input: named(4) })).body.input)).toHaveLength(4)
  })

  test('named items count together with the conversation they continue', async () => {
    const accountId = await accountWith(3_800_000)
    const [{ id = '' } = {}] = await world.database.sql`SELECT id FROM stored_responses WHERE account_id = ${accountId}`
    const input = named(4)
    expect(await refusal(world.resume(accountId, { input, previous_response_id: id }))).toMatchObject({
      code: 'chain_too_large',
    })
  })

  test('named items together have at most as many JSON values as a request may have', async () => {
    const accountId = await world.account()
    const content = Array.from({ length: 2_000 }, () => ({ type: 'output_text', text: '' }))
    await world.answer(accountId, { input: 'Hi' }, [{ type: 'message', id: 'msg_big', role: 'assistant', content }])
    expect(said((await world.resume(accountId, { input: named(10) })).body.input)).toHaveLength(10)
    const refused = await refusal(world.resume(accountId, { input: named(100) }))
    expect(refused).toMatchObject({ status: 400, code: 'chain_too_large' })
  })
})

describe('a long stored conversation', () => {
  async function chainOf(accountId: string, links: number, characters: number): Promise<string> {
    let last: string | undefined
    for (let link = 0; link < links; link++) {
      const output = [text('y'.repeat(characters))]
      const body = { input: 'Hi', ...(last !== undefined && { previous_response_id: last }) }
      last = (await world.answer(accountId, body, output)).id
    }
    await world.isWritten(last ?? '')
    return last ?? ''
  }

  test.each([
    ['the copies', false],
    ['the history', true],
  ])('a conversation’s size is known before older answers are read from %s', async (_, isLost) => {
    const accountId = await world.account()
    const last = await chainOf(accountId, 20, 10_000)
    if (isLost) await world.loseCopies(accountId)
    asked = []
    announced = []
    refuses = true
    expect(await refusal(world.resume(accountId, { previous_response_id: last }))).toMatchObject({ status: 402 })
    expect(asked).toHaveLength(1)
    expect(announced).toEqual([{ bytes: expect.any(Number), tokens: 0 }])
    refuses = false
    const { bytes } = await world.resume(accountId, { previous_response_id: last })
    // It was announced once more, and it is what was announced.
    expect(announced).toHaveLength(2)
    expect(bytes - (announced[0]?.bytes ?? 0)).toBeWithin(0, 200)
  })

  test('a conversation’s size includes the provider’s token count', async () => {
    const accountId = await world.account()
    const { keep } = await world.resume(accountId, { input: 'Hi' })
    const usage = { input_tokens: 1_234, output_tokens: 5 }
    const output = [text('x')]
    await keep?.(JSON.stringify({ id: 'resp_counted', status: 'completed', output, usage }), 'complete')
    await world.resume(accountId, { previous_response_id: 'resp_counted' })
    expect(announced).toEqual([{ bytes: expect.any(Number), tokens: 1_234 }])
  })

  test.each([
    ['bytes', 'bytes', MAX_CHAIN_BYTES],
    ['values', 'json_values', MAX_CHAIN_VALUES],
  ])('a conversation is refused unread if it has too many %s', async (_, column, most) => {
    const accountId = await world.account()
    const last = await chainOf(accountId, 2, 10)
    await world.loseCopies(accountId)
    announced = []
    const { sql } = world.database
    await sql`UPDATE stored_responses SET ${sql(column)} = ${most} WHERE account_id = ${accountId}`
    const refused = await refusal(world.resume(accountId, { previous_response_id: last }))
    expect(refused).toMatchObject({ status: 400, code: 'chain_too_large' })
    expect(announced).toEqual([])
  })
})

describe('the stored part of a request', () => {
  const junk = 'j'.repeat(MEGABYTE)
  const sizeOf = async (accountId: string) => {
    await until(async () => (await world.store.standing(accountId)).kept === 1, 'the row')
    return (await world.store.standing(accountId)).bytes
  }

  test.each<[string, JsonObject]>([
    ['an item', { role: 'user', content: 'Hi', junk }],
    ['an invalid id', { role: 'user', content: 'Hi', id: junk }],
    ['a status', { role: 'user', content: 'Hi', status: junk }],
    ['a part', { role: 'user', content: [{ type: 'input_text', text: 'Hi', junk }] }],
    [
      'an address of an image',
      { role: 'user', content: [{ type: 'input_image', image_url: { url: 'https://a.test/b', junk } }] },
    ],
    ['a result', { type: 'function_call_output', call_id: 'c', output: [{ type: 'input_text', text: 'Hi', junk }] }],
    ['a call', { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}', junk }],
    ['a thought', { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm', junk }], junk }],
  ])('only known fields of a request are stored, without %s', async (_, item) => {
    const accountId = await world.account()
    expect((await world.answer(accountId, { input: [item] })).told.store).toBe(true)
    expect(await sizeOf(accountId)).toBeLessThan(1_000)
  })

  test.each<[string, JsonObject]>([
    ['the name of a call', { type: 'function_call', call_id: 'c', name: junk, arguments: '{}' }],
    ['the id of a call', { type: 'function_call', call_id: junk, name: 'f', arguments: '{}' }],
    ['an item that only providers read', { type: 'some_call', junk }],
  ])('no input is stored if %s is long without being text for the model', async (_, item) => {
    const accountId = await world.account()
    expect((await world.answer(accountId, { input: [item] })).told.store).toBe(false)
    expect(await world.store.standing(accountId)).toMatchObject({ kept: 0, bytes: 0 })
  })

  test('all input that a model reads is stored, with the digits of its numbers', async () => {
    const accountId = await world.account()
    const items: JsonObject[] = [
      {
        type: 'message',
        id: 'msg_1',
        role: 'user',
        content: [{ type: 'input_file', filename: 'a.pdf', file_data: 'eA==' }],
      },
      {
        type: 'function_call',
        id: 'fc_1',
        status: 'completed',
        call_id: 'c',
        name: 'f',
        namespace: 'n',
        arguments: '{"a":1.0}',
      },
      { type: 'function_call_output', id: 'fco_1', call_id: 'c', output: 'out' },
      {
        type: 'additional_tools',
        id: 'item_1',
        tools: [{ type: 'function', name: 'g', parameters: { type: 'object' } }],
      },
      { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'q' } },
    ]
    const { id } = await world.answer(accountId, { input: items })
    await world.isWritten(id)
    await world.loseCopies(accountId)
    const page = await world.store.findInput(accountId, id, { order: 'asc', limit: 100, after: null })
    expect(page.items).toEqual(items)
  })
})

describe('the input of a stored answer', () => {
  test('the input of a stored answer is paged in both directions, from copies and history', async () => {
    const accountId = await world.account()
    const input = (turn: number) =>
      Array.from({ length: 3 }, (_, index) => ({
        role: 'user',
        id: `msg_${turn}_${index}`,
        content: `in ${turn} ${index}`,
      }))
    const first = await world.answer(accountId, { input: input(0) }, [
      text('out 0', 'msg_out_0'),
      text('out 1', 'msg_out_1'),
    ])
    const last = await world.answer(accountId, { input: input(1), previous_response_id: first.id })
    const all = ['in 0 0', 'in 0 1', 'in 0 2', 'out 0', 'out 1', 'in 1 0', 'in 1 1', 'in 1 2']
    await world.isWritten(last.id)
    for (const round of ['copied', 'written']) {
      if (round === 'written') await world.loseCopies(accountId)
      for (const order of ['asc', 'desc'] as const) {
        for (const limit of [1, 2, 3, 5, 8]) {
          const found: unknown[] = []
          let after: string | null = null
          for (let isMore = true; isMore; ) {
            const page = await world.store.findInput(accountId, last.id, { order, limit, after })
            expect(page.items.length).toBeWithin(1, limit + 1)
            found.push(...said(page.items))
            after = String(page.items.at(-1)?.id)
            isMore = page.hasMore
          }
          expect(found).toEqual(order === 'asc' ? all : all.toReversed())
        }
      }
      const beyond = world.store.findInput(accountId, last.id, { order: 'asc', limit: 1, after: 'msg_none' })
      expect(await refusal(beyond)).toMatchObject({ status: 400, param: 'after' })
    }
  })

  test('a page of input reads only its own items, however large they are', async () => {
    const accountId = await world.account()
    const input = Array.from({ length: 6 }, (_, index) => ({
      role: 'user',
      id: `msg_${index}`,
      content: 'z'.repeat(600_000),
    }))
    const { id } = await world.answer(accountId, { input })
    await world.isWritten(id)
    const page = await world.store.findInput(accountId, id, { order: 'asc', limit: 100, after: null })
    expect([page.items.map((item) => item.id), page.hasMore]).toEqual([['msg_0', 'msg_1'], true])
  })
})
