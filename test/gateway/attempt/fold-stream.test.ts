/** A stream folded into a whole answer: it counts only once it is complete. */
import { beforeEach, describe, expect, test } from 'bun:test'
import { createTestSource, formatOf, itemsOf, type TestSource } from '@test/gateway/answer-parts'
import { chatChunk, chatStream, usageOf } from '@test/support/upstream'
import { foldStream } from '@/gateway/attempt/fold-stream'
import { Meter } from '@/gateway/charge/meter'

const format = formatOf('chat-completions')
const ROLE = chatChunk({ role: 'assistant', content: '' })
const MANY_CHARS = 1_000_000

let source: TestSource
beforeEach(() => {
  source = createTestSource()
})

function give(...events: unknown[]): void {
  source.give({ kind: 'items', items: itemsOf(format, ...events) })
}

test('folding a stream gives the whole answer, and the meter gets its events', async () => {
  give(...chatStream(['Hel', 'lo'], usageOf(10, 5)))
  source.give({ kind: 'done', events: [] })
  const meter = new Meter(100)
  const folded = await foldStream(source, MANY_CHARS, meter)
  expect(folded.kind === 'folded' && folded.response.choices[0]?.content).toEqual([{ type: 'text', text: 'Hello' }])
  expect(meter.reading()).toMatchObject({ usage: { uncached: 10, output: 5 }, hasOutput: true })
  expect(meter.firstTokenMs()).toBeNull()
})

describe('folding a stream fails', () => {
  test.each([
    ['ends without content', [ROLE, '[DONE]'], { kind: 'malformed' }],
    ['is longer than any answer', [chatChunk({ content: 'x'.repeat(500) })], { kind: 'malformed' }],
    ['writes far beyond its output limit', [chatChunk({ content: 'x'.repeat(40_000) })], { kind: 'broken' }],
  ])('folding fails and ends the call if the stream %s', async (name, events, failure) => {
    give(...events)
    source.give({ kind: 'done', events: [] })
    const maxChars = name.includes('longer') ? 100 : MANY_CHARS
    expect(await foldStream(source, maxChars, new Meter(10))).toMatchObject({ kind: 'failed', failure })
    expect(source.isAborted()).toBe(true)
  })
})
