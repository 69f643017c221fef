/** What a meter reads of an answer: the provider's usage, or what was seen of the answer if there is none. */
import { describe, expect, test } from 'bun:test'
import type { ChatEvent } from '@/chat/event'
import type { ChatResponse } from '@/chat/response'
import { ZERO_USAGE } from '@/chat/usage'
import { Meter } from '@/gateway/charge/meter'

const at = { choice: 0, block: 0 }
const text = (words: string): ChatEvent => ({ type: 'text-delta', ...at, text: words })
const usage = (output: number): ChatEvent => ({ type: 'usage', usage: { ...ZERO_USAGE, uncached: 10, output } })

function meterOf(...events: ChatEvent[]): Meter {
  const meter = new Meter(100)
  for (const event of events) meter.observe(event)
  return meter
}

describe('a stream', () => {
  test('a stream without content has no output, whatever events it has', () => {
    const meter = meterOf({ type: 'start', id: '', model: '', created: 0 }, { type: 'text-start', ...at }, text(''))
    expect(meter.reading()).toEqual({
      ...{ usage: null, isUsageStale: false, countedOutput: 0, hasOutput: false, finish: undefined },
    })
    expect(meter.hasOutput()).toBe(false)
  })

  test.each<[string, ChatEvent, string, number]>([
    ['text', text('words and more'), 'words and more', 4],
    ['a refusal', { type: 'refusal-delta', ...at, text: 'words and more' }, 'words and more', 4],
    ['reasoning', { type: 'reasoning-delta', ...at, text: 'words and more' }, 'words and more', 4],
    ['a tool’s name', { type: 'tool-call-start', ...at, id: '1', name: 'words_and_more' }, 'words_and_more', 5],
    ['a tool’s arguments', { type: 'tool-call-delta', ...at, argumentsText: '{"word":"more"}' }, '{"word":"more"}', 6],
  ])('the meter counts %s', (_, event, said, tokens) => {
    const meter = meterOf(event)
    expect(meter.reading()).toMatchObject({ hasOutput: true, countedOutput: tokens })
    expect(meter.said()).toEqual({ texts: [said], unkeptTokens: 0 })
  })

  test('an image in the output cannot be counted', () => {
    const meter = meterOf({ type: 'image', ...at, mediaType: 'image/png', data: 'AAAA' })
    expect(meter.reading()).toMatchObject({ hasOutput: true, countedOutput: 0 })
  })

  test('the meter uses the last usage, and knows whether content followed it', () => {
    const meter = meterOf(usage(1), text('word'))
    expect(meter.reading()).toMatchObject({ isUsageStale: true, usage: { output: 1 } })
    meter.observe(usage(7))
    expect(meter.reading()).toMatchObject({ isUsageStale: false, usage: { output: 7 } })
  })

  test('the finish reason is the first choice’s; only the provider’s terminator completes the answer', () => {
    const finish = (choice: number, kind: 'stop' | 'error'): ChatEvent => ({ type: 'finish', choice, finish: { kind } })
    const meter = meterOf(finish(0, 'stop'), finish(1, 'error'))
    expect(meter.reading().finish).toBe('stop')
    expect(meter.hasEnded()).toBe(false)
    meter.observe({ type: 'end' })
    expect(meter.hasEnded()).toBe(true)
  })
})

test('a whole answer is metered like a stream, with final usage', () => {
  const response: ChatResponse = {
    ...{ id: '', created: 0, model: '', usage: { ...ZERO_USAGE, output: 3 } },
    choices: [
      {
        index: 0,
        finish: { kind: 'tool-calls' },
        content: [
          { type: 'text', text: 'words and more' },
          { type: 'tool-call', id: '1', name: 'add', argumentsText: '{}' },
        ],
      },
    ],
  }
  const meter = new Meter(100)
  meter.observeResponse(response)
  expect(meter.reading()).toMatchObject({
    hasOutput: true,
    isUsageStale: false,
    finish: 'tool-calls',
    countedOutput: 5,
  })
  expect(meter.hasEnded()).toBe(true)
})

test('an answer counts as far beyond its limit if our estimate is eight times the limit', () => {
  const meter = new Meter(100)
  const words = '字'.repeat(3_700)
  meter.observe(text(words))
  expect(meter.isRunaway()).toBe(false)
  meter.observe(text('字'.repeat(100)))
  expect(meter.isRunaway()).toBe(true)
})

test('the meter reports the first token once', () => {
  const meter = new Meter(100)
  expect(meter.firstTokenMs()).toBeNull()
  meter.noteDelivery(12)
  meter.noteDelivery(99)
  expect(meter.firstTokenMs()).toBe(12)
})
