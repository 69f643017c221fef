/** The commit point: from it on an answer is the client's; before it events are buffered, and another target may answer. */
import { beforeEach, describe, expect, jest, test } from 'bun:test'
import { createTestSource, formatOf, hubItems, itemsOf, type TestSource } from '@test/gateway/answer-parts'
import { chatChunk } from '@test/support/upstream'
import type { ChatEvent } from '@/chat/event'
import { awaitContent } from '@/gateway/attempt/commit-point'
import type { StreamItem } from '@/gateway/attempt/repeats'

const format = formatOf('chat-completions')
const NOBODY_LEAVES = new AbortController().signal
const responses = formatOf('responses')
const KEEPALIVE = { type: 'keepalive' }
const TEXT_DELTA = {
  type: 'response.output_text.delta',
  output_index: 1,
  item_id: 'msg_1',
  content_index: 0,
  delta: 'Hi',
}
const codeDelta = (index: number) => ({
  ...{ type: 'response.code_interpreter_call_code.delta', sequence_number: index, output_index: 0, item_id: 'ci_1' },
  delta: `line ${index}`,
})
const ROLE = chatChunk({ role: 'assistant', content: '' })
const OVERLOADED = { error: { message: 'overloaded', type: 'server_error', code: 503 } }
const END: ChatEvent = { type: 'end' }
const FAILED: ChatEvent = { type: 'finish', choice: 0, finish: { kind: 'error', raw: 'OTHER' } }

let source: TestSource
beforeEach(() => {
  source = createTestSource()
})

const batch = (items: StreamItem[]) => ({ kind: 'items' as const, items })
const done = (...events: ChatEvent[]) => ({ kind: 'done' as const, events })

test('the commit point is the first content; earlier events are buffered for the client', async () => {
  source.give(batch(itemsOf(format, ROLE)), batch(itemsOf(format, ROLE, chatChunk({ content: 'Hi' }), ROLE)))
  const stream = await awaitContent(source, false, NOBODY_LEAVES)
  expect(stream).toMatchObject({ kind: 'stream', pending: undefined })
  expect(stream.kind === 'stream' && stream.held).toHaveLength(4)
  expect(source.reads()).toBe(2)
})

describe('reaching the commit point', () => {
  const at = { choice: 0, block: 0 }
  test.each<[string, ChatEvent]>([
    ['a refusal', { type: 'refusal-delta', ...at, text: 'No' }],
    ['reasoning', { type: 'reasoning-delta', ...at, text: 'Hm' }],
    [
      'reasoning that only its provider can read',
      { type: 'reasoning-start', ...at, redacted: { format: 'messages', value: 'x' } },
    ],
    ['a tool call', { type: 'tool-call-start', ...at, id: '1', name: 'add' }],
    ['an image', { type: 'image', ...at, mediaType: 'image/png', data: 'AA' }],
    ['a finish, since an answer may be empty', { type: 'finish', choice: 0, finish: { kind: 'stop', raw: 'stop' } }],
  ])('the commit point is reached by %s', async (_, event) => {
    source.give(batch(hubItems(event)))
    expect((await awaitContent(source, false, NOBODY_LEAVES)).kind).toBe('stream')
  })

  test('events that only announce content do not reach the commit point', async () => {
    const announcing: ChatEvent[] = [
      { type: 'start', id: '1', model: 'm', created: 0 },
      { type: 'text-start', ...at },
      { type: 'text-delta', ...at, text: '' },
      { type: 'reasoning-start', ...at },
    ]
    source.give(batch(hubItems(...announcing)), done())
    expect(await awaitContent(source, false, NOBODY_LEAVES)).toMatchObject({
      kind: 'failed',
      failure: { kind: 'broken' },
    })
  })
})

describe('before the commit point', () => {
  test('a finished stream without content but with a terminator is relayed as an empty answer', async () => {
    const finished: ChatEvent = { type: 'finish', choice: 0, finish: { kind: 'stop', raw: 'stop' } }
    source.give(batch(itemsOf(format, ROLE)), done(finished, END))
    const stream = await awaitContent(source, false, NOBODY_LEAVES)
    expect(stream).toMatchObject({ kind: 'stream', held: [{}] })
    expect(stream.kind === 'stream' && (await stream.pending)).toEqual(done(finished, END))
  })

  test('a translated attempt fails if its finish reason is a failure that the client’s format can’t express', async () => {
    source.give(batch(hubItems(FAILED)), batch(hubItems(FAILED)))
    expect(await awaitContent(source, true, NOBODY_LEAVES)).toMatchObject({
      kind: 'failed',
      failure: { kind: 'malformed' },
    })
    expect((await awaitContent(source, false, NOBODY_LEAVES)).kind).toBe('stream')
    source.give(done(FAILED, END))
    expect(await awaitContent(source, true, NOBODY_LEAVES)).toMatchObject({
      kind: 'failed',
      failure: { kind: 'malformed' },
    })
  })
})

test('an error after content in the same read is relayed to the client', async () => {
  source.give(batch(itemsOf(format, chatChunk({ content: 'Hi' }), OVERLOADED)))
  expect((await awaitContent(source, false, NOBODY_LEAVES)).kind).toBe('stream')
  expect(source.isAborted()).toBe(false)
})

test('after a disconnect the gateway does not wait for content, and returns the events read so far', async () => {
  const client = new AbortController()
  source.give(batch(itemsOf(format, ROLE)))
  const waiting = awaitContent(source, false, client.signal)
  client.abort()
  const stream = await waiting
  expect(stream).toMatchObject({ kind: 'stream', pending: expect.any(Promise) })
  expect(source.isAborted()).toBe(false)
})

describe('the buffer', () => {
  const name: ChatEvent = { type: 'tool-call-start', choice: 0, block: 0, id: 'call_1', name: 'add' }
  const argumentPieces = Array.from({ length: 1_000 }, (_, index): ChatEvent => {
    return { type: 'tool-call-delta', choice: 0, block: 0, argumentsText: `${index},` }
  })

  test.each([64, 65, 1_000])(
    'no event of a read that has content is dropped: %d pieces of arguments',
    async (count) => {
      const pieces = argumentPieces.slice(0, count)
      source.give(batch(itemsOf(format, ROLE)), batch(hubItems(name, ...pieces)))
      const stream = await awaitContent(source, false, NOBODY_LEAVES)
      expect(stream.kind === 'stream' && stream.held.flatMap(({ events }) => events).slice(-count - 1)).toEqual([
        name,
        ...pieces,
      ])
    },
  )

  test('events are never dropped from the buffer', async () => {
    const events: ChatEvent[] = [
      ...Array.from({ length: 100 }, (): ChatEvent => ({ type: 'text-delta', choice: 0, block: 0, text: '' })),
      { type: 'text-start', choice: 0, block: 1 },
    ]
    for (const event of events) source.give(batch(hubItems(event)))
    source.give(batch(itemsOf(format, chatChunk({ content: 'Hi' }))))
    const stream = await awaitContent(source, false, NOBODY_LEAVES)
    const held = stream.kind === 'stream' ? stream.held.flatMap((item) => item.events) : []
    expect(held.slice(0, events.length)).toEqual(events)
  })

  test('beyond a number of buffered items keep-alives are dropped; for the provider’s own format all items are kept', async () => {
    const items = Array.from({ length: 200 }, (_, index) => itemsOf(responses, codeDelta(index)))
    for (const each of items) source.give(batch(each))
    for (let index = 0; index < 100; index++) source.give(batch(itemsOf(responses, KEEPALIVE)))
    source.give(batch(itemsOf(responses, TEXT_DELTA)))
    const stream = await awaitContent(source, false, NOBODY_LEAVES)
    const raws = stream.kind === 'stream' ? stream.held.map(({ sse }) => sse.data) : []
    expect(raws).toEqual([
      ...items.flat().map(({ sse }) => sse.data),
      ...[KEEPALIVE, TEXT_DELTA].map((one) => JSON.stringify(one)),
    ])
  })

  test('the buffer is limited in bytes', async () => {
    const long = hubItems({ type: 'text-start', choice: 0, block: 0 }).map((item) => ({
      ...item,
      sse: { ...item.sse, raw: `: ${'x'.repeat(100_000)}\n\n` },
    }))
    for (let index = 0; index < 10; index++) source.give(batch(long))
    const stream = await awaitContent(source, false, NOBODY_LEAVES)
    expect(stream.kind === 'stream' && stream.held).toHaveLength(3)
  })

  test('buffering has no time limit: only content counts as an answer', async () => {
    source.give(batch(itemsOf(format, ROLE)))
    const waiting = awaitContent(source, false, NOBODY_LEAVES)
    let isDecided = false
    void waiting.then(() => {
      isDecided = true
    })
    jest.useFakeTimers()
    for (let minute = 0; minute < 10; minute++) {
      jest.advanceTimersByTime(60_000)
      for (let turn = 0; turn < 10; turn++) await Promise.resolve()
    }
    jest.useRealTimers()
    expect(isDecided).toBe(false)
    source.give(batch(itemsOf(format, chatChunk({ content: 'Hi' }))))
    expect((await waiting).kind).toBe('stream')
  })
})
