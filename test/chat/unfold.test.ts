/** Unfolding a complete answer gives the stream that the answer could have come from. */
import { describe, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import type { ChatEvent } from '@/chat/event'
import type { AnswerBlock, ChatResponse } from '@/chat/response'
import { unfold } from '@/chat/unfold'
import { response } from './answers'

const OPENS = new Set(['text-start', 'refusal-start', 'reasoning-start', 'tool-call-start', 'image'])

describe('an unfolded answer', () => {
  test('unfolding sends the blocks in order, and ends each before its choice finishes', () => {
    fc.assert(fc.property(response, (answer) => expectGrammar(unfold(answer))))
  })

  test('unfolding numbers the blocks from 0 without gaps over all choices', () => {
    const image: AnswerBlock = { type: 'image', source: { type: 'url', url: 'https://example.test/a.png' } }
    const audio: AnswerBlock = { type: 'audio', mediaType: 'audio/wav', data: 'AA==' }
    const words: AnswerBlock = { type: 'text', text: 'a' }
    const events = unfold(answerOf([image, words, audio], [audio, words]))
    expect(events.filter((event) => OPENS.has(event.type))).toEqual([
      { type: 'text-start', choice: 0, block: 0 },
      { type: 'text-start', choice: 1, block: 1 },
    ])
    expectGrammar(events)
  })

  test('unfolding sends no events for empty arguments and thoughts', () => {
    const call: AnswerBlock = { type: 'tool-call', id: 'call_1', name: 'now', argumentsText: '' }
    const hidden: AnswerBlock = { type: 'reasoning', text: '', redacted: { format: 'messages', value: 'x' } }
    const types = unfold(answerOf([call, hidden])).map((event) => event.type)
    expect(types).toEqual([
      'start',
      'tool-call-start',
      'tool-call-end',
      'reasoning-start',
      'reasoning-end',
      'finish',
      'end',
    ])
  })

  test('unfolding sends the usage once, before the end, and never if the provider gave none', () => {
    const answer = answerOf([{ type: 'text', text: 'a' }])
    const usage = { uncached: 1, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 1, reasoning: 0 }
    expect(unfold({ ...answer, usage }).slice(-2)).toEqual([{ type: 'usage', usage }, { type: 'end' }])
    expect(unfold(answer).map((event) => event.type)).not.toContain('usage')
  })
})

function answerOf(...contents: AnswerBlock[][]): ChatResponse {
  const choices = contents.map((content, index) => ({ index, content, finish: { kind: 'stop' as const } }))
  return { id: 'a', created: 1, model: 'm', choices, usage: null }
}

/** What `chat/event.ts` promises of every stream. */
function expectGrammar(events: ChatEvent[]): void {
  expect(events[0]?.type).toBe('start')
  expect(events.at(-1)).toEqual({ type: 'end' })
  const open = new Map<number, string>()
  const finished = new Set<number>()
  let blocks = 0
  for (const event of events) {
    if (event.type === 'finish') {
      expect(finished.has(event.choice)).toBe(false)
      finished.add(event.choice)
    }
    if (!('block' in event)) continue
    expect(finished.has(event.choice)).toBe(false)
    const [kind, part] = [event.type.replace(/-(start|delta|end)$/, ''), event.type.split('-').at(-1)]
    if (OPENS.has(event.type)) expect(event.block).toBe(blocks++)
    if (part === 'start') open.set(event.block, kind)
    else if (kind !== 'image') expect(open.get(event.block)).toBe(kind)
    if (part === 'end') open.delete(event.block)
  }
  expect([...open]).toEqual([])
}
