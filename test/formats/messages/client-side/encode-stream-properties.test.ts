/** Random streams in the messages format: no text is lost, blocks never interleave, and decoding gives the same events. */
import { expect, test } from 'bun:test'
import { blocksOf, start, text, thinking, tool } from '@test/formats/messages/stream-events'
import { decodeText, encodeEvents, readFixture, toSse } from '@test/formats/messages/support'
import { fc } from '@test/support/property'
import type { ChatEvent } from '@/chat/event'
import { createFolder } from '@/chat/fold'
import type { ChatResponse } from '@/chat/response'

const lanes = fc.array(
  fc.oneof(
    fc.array(fc.string(), { maxLength: 4 }).map((parts) => (block: number) => text(block, ...parts)),
    fc.tuple(fc.string(), fc.array(fc.string(), { maxLength: 4 })).map(
      ([id, parts]) =>
        (block: number) =>
          tool(block, id, parts),
    ),
    fc.string().map((part) => (block: number) => thinking(block, part)),
  ),
  { maxLength: 5 },
)

test('for any interleaving, blocks follow one another and no text is lost', () => {
  fc.assert(
    fc.property(lanes, fc.infiniteStream(fc.nat()), (made, choices) => {
      const queues = made.map((make, block) => make(block))
      const events: ChatEvent[] = [start]
      while (queues.some((queue) => queue.length > 0)) {
        const open = queues.filter((queue) => queue.length > 0)
        const next = open[(choices.next().value as number) % open.length]?.shift()
        if (next) events.push(next)
      }
      const blocks = blocksOf(encodeEvents(events))
      const count = (value: string) => [...value].sort().join('')
      const sent = events.map((event) => (event.type === 'text-delta' ? event.text : '')).join('')
      expect(count(blocks.map((block) => (block.type === 'text' ? block.text : '')).join(''))).toBe(count(sent))
      expect(blocks.filter((block) => block.type === 'tool_use')).toHaveLength(
        events.filter((event) => event.type === 'tool-call-start').length,
      )
    }),
    { numRuns: 500 },
  )
})

test('a stream that is decoded and encoded again is the same', () => {
  for (const name of ['text.sse', 'thinking-tools.sse']) {
    const events = decodeText(readFixture(name))
    const again = decodeText(toSse(encodeEvents(events)))
    expect(again.at(-1)).toEqual({ type: 'end' })
    const { choices, usage } = fold(again)
    expect({ choices, usage }).toEqual({ choices: fold(events).choices, usage: fold(events).usage })
  }
})

function fold(events: ChatEvent[]): ChatResponse {
  const folder = createFolder()
  for (const event of events) folder.push(event)
  return folder.response()
}
