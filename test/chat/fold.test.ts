/** Folding the events of a stream, split and ordered in any way, gives one answer. */
import { describe, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import type { ChatEvent } from '@/chat/event'
import { createFolder } from '@/chat/fold'
import type { ChatResponse } from '@/chat/response'
import { unfold } from '@/chat/unfold'
import { response } from './answers'

const USAGE = { uncached: 1, cacheRead: 2, cacheWrite5m: 3, cacheWrite1h: 4, output: 5, reasoning: 6 }

describe('a folded stream', () => {
  test('folding a stream gives the same answer however its texts are split', () => {
    fc.assert(
      fc.property(response, fc.array(fc.nat(5), { minLength: 1 }), (answer, sizes) => {
        expect(fold(unfold(answer).flatMap((event) => pieces(event, sizes)))).toEqual(answer)
      }),
    )
  })

  test('folding a stream gives the same answer however its blocks interleave', () => {
    fc.assert(
      fc.property(response, fc.infiniteStream(fc.nat()), (answer, random) => {
        expect(fold(interleave(unfold(answer), random))).toEqual(answer)
      }),
    )
  })

  test('folding a stream sorts the choices by index', () => {
    const events: ChatEvent[] = [
      { type: 'text-start', choice: 2, block: 0 },
      { type: 'text-start', choice: 0, block: 1 },
      { type: 'finish', choice: 1, finish: { kind: 'length' } },
    ]
    expect(fold(events).choices.map((choice) => choice.index)).toEqual([0, 1, 2])
  })

  test('folding a choice without a finish reason gives the reason "stop"', () => {
    expect(fold([{ type: 'text-start', choice: 0, block: 0 }]).choices).toEqual([
      { index: 0, content: [{ type: 'text', text: '' }], finish: { kind: 'stop' } },
    ])
  })

  test('folding a stream keeps the last usage, which is cumulative', () => {
    const later = { ...USAGE, output: 9, cacheRead: 0 }
    expect(
      fold([
        { type: 'usage', usage: USAGE },
        { type: 'usage', usage: later },
      ]).usage,
    ).toEqual(later)
    expect(fold([]).usage).toBeNull()
  })

  test('folding a stream without events gives an empty answer', () => {
    expect(fold([])).toEqual({ id: '', created: 0, model: '', choices: [], usage: null })
  })

  test('folding ignores errors in the stream', () => {
    const error = { reason: 'server' as const, status: 500, kind: 'api_error', message: 'no' }
    expect(fold([{ type: 'error', error }, { type: 'end' }])).toEqual(fold([]))
  })

  test('folding drops chunks of unknown blocks, or of another kind than their block', () => {
    const call: ChatEvent = { type: 'tool-call-start', choice: 0, block: 0, id: 'call_1', name: 'now' }
    const events: ChatEvent[] = [
      { type: 'text-delta', choice: 0, block: 7, text: 'lost' },
      call,
      { type: 'text-delta', choice: 0, block: 0, text: 'lost' },
      { type: 'tool-call-delta', choice: 0, block: 0, argumentsText: '{}' },
    ]
    expect(fold(events).choices[0]?.content).toEqual([
      { type: 'tool-call', id: 'call_1', name: 'now', argumentsText: '{}' },
    ])
  })

  test('a partly folded stream can be read, and read again later', () => {
    const folder = createFolder()
    folder.push({ type: 'text-start', choice: 0, block: 0 })
    folder.push({ type: 'text-delta', choice: 0, block: 0, text: 'a' })
    expect(folder.response().choices[0]?.content).toEqual([{ type: 'text', text: 'a' }])
    folder.push({ type: 'text-delta', choice: 0, block: 0, text: 'b' })
    expect(folder.response().choices[0]?.content).toEqual([{ type: 'text', text: 'ab' }])
  })
})

function fold(events: ChatEvent[]): ChatResponse {
  const folder = createFolder()
  for (const event of events) folder.push(event)
  return folder.response()
}

/** A delta as several; everything else as it is. */
function pieces(event: ChatEvent, sizes: number[]): ChatEvent[] {
  const text = 'text' in event ? event.text : 'argumentsText' in event ? event.argumentsText : ''
  if (text === '') return [event]
  const parts: string[] = []
  for (let start = 0, turn = 0; start < text.length; turn++) {
    const end = start + (sizes[turn % sizes.length] ?? 0) + (turn % 2)
    parts.push(text.slice(start, end))
    start = end
  }
  return parts.map((part) =>
    'text' in event ? { ...event, text: part } : { ...event, argumentsText: part },
  ) as ChatEvent[]
}

/** Begins the blocks in their order, and then takes a piece now of this one, now of that one. */
function interleave(events: ChatEvent[], random: fc.Stream<number>): ChatEvent[] {
  const isStart = ({ type }: ChatEvent) => type.endsWith('-start') || type === 'image'
  const starts = events.filter((event) => 'block' in event && isStart(event))
  const others = events.filter((event) => !('block' in event))
  const lanes = starts.map((start) =>
    events.filter((event) => 'block' in event && 'block' in start && event.block === start.block && !isStart(event)),
  )
  const mixed: ChatEvent[] = []
  for (
    let open = lanes.filter((lane) => lane.length > 0);
    open.length > 0;
    open = open.filter((lane) => lane.length > 0)
  ) {
    const { value } = random.next()
    mixed.push(...(open[Number(value) % open.length]?.splice(0, 1) ?? []))
  }
  return [...starts, ...mixed, ...others]
}
