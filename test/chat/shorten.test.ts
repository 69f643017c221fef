/** Shortened answers: text is cut, tool calls are kept whole or removed, characters are never split. */
import { expect, test } from 'bun:test'
import type { AnswerBlock, ChatResponse } from '@/chat/response'
import { shorten } from '@/chat/shorten'

const call: AnswerBlock = { type: 'tool-call', id: '1', name: 'add', argumentsText: '{"a":1}' }
const answerOf = (...content: AnswerBlock[]): ChatResponse => ({
  ...{ id: '', created: 0, model: '', usage: null },
  choices: [{ index: 0, content, finish: { kind: 'stop' } }],
})
const shortened = (share: number, ...content: AnswerBlock[]) => shorten(answerOf(...content), share).choices[0]

test('a shortened answer keeps its beginning and ends with the reason "length"', () => {
  expect(shortened(0.5, { type: 'text', text: 'abcdef' }, { type: 'text', text: 'gh' })).toEqual({
    ...{ index: 0, finish: { kind: 'length' } },
    content: [{ type: 'text', text: 'abcd' }],
  })
})

test('shortening removes an incomplete tool call', () => {
  expect(shortened(0.9, { type: 'text', text: 'ab' }, call)?.content).toEqual([{ type: 'text', text: 'ab' }])
  expect(shortened(0.9, call, { type: 'text', text: 'abcdefgh' })?.content).toEqual([
    call,
    { type: 'text', text: 'abcdef' },
  ])
})

test('shortening never cuts a surrogate pair', () => {
  expect(shortened(0.5, { type: 'text', text: '🎉🎉' })?.content).toEqual([{ type: 'text', text: '🎉' }])
  expect(shortened(0.3, { type: 'text', text: '🎉🎉' })?.content).toEqual([{ type: 'text', text: '' }])
})
