/** Random streams in the responses format: events have the published order, and OpenAI's own library reads the same content. */
import { expect, test } from 'bun:test'
import { judgeOrder } from '@test/formats/responses/stream-order'
import { fc } from '@test/support/property'
import { ResponseStream } from 'openai/lib/responses/ResponseStream'
import type { ChatEvent } from '@/chat/event'
import type { FinishKind } from '@/chat/response'
import { encodeEvents, START, usageOf } from './answers'

type Kind = 'text' | 'refusal' | 'reasoning' | 'tool-call'

const lane = fc.record({
  kind: fc.constantFrom<Kind>('text', 'refusal', 'reasoning', 'tool-call'),
  parts: fc.array(fc.oneof(fc.string({ unit: 'binary', maxLength: 8 }), fc.constant(' ')), { maxLength: 4 }),
  id: fc.oneof(fc.constantFrom('', 'call_0', 'a b'), fc.string({ maxLength: 80 })),
  isSigned: fc.boolean(),
})
const KINDS: FinishKind[] = ['stop', 'length', 'tool-calls', 'content-filter', 'pause', 'error']

test('for any interleaving, events are in order and no text is lost', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(lane, { maxLength: 5 }),
      fc.infiniteStream(fc.nat()),
      fc.constantFrom(...KINDS),
      async (lanes, picks, kind) => {
        const usage = usageOf({ uncached: 3, output: 2 })
        const events: ChatEvent[] = [
          START,
          ...interleave(lanes.map(eventsOf), picks),
          { type: 'finish', choice: 0, finish: { kind } },
          { type: 'usage', usage },
          { type: 'end' },
        ]
        const told = encodeEvents(events)
        const response = judgeOrder(told)
        expect(textIn(response.output)).toBe(meant(lanes))
        if (response.status === 'failed') return
        const read = await ResponseStream.fromReadableStream(linesOf(told)).finalResponse()
        expect(textIn(read.output)).toBe(meant(lanes))
        expect(read).toMatchObject({ status: response.status, usage: { total_tokens: 5 } })
      },
    ),
    { numRuns: 300 },
  )
})

function eventsOf({ kind, parts, id, isSigned }: typeof lane extends fc.Arbitrary<infer L> ? L : never, block: number) {
  const at = { choice: 0, block }
  const signature = { format: 'generate-content', value: 'c2ln' } as const
  const head: ChatEvent =
    kind === 'tool-call' ? { type: `${kind}-start`, ...at, id, name: 'f' } : { type: `${kind}-start`, ...at }
  const deltas = parts.map(
    (part): ChatEvent =>
      kind === 'tool-call'
        ? { type: `${kind}-delta`, ...at, argumentsText: part }
        : { type: `${kind}-delta`, ...at, text: part },
  )
  return [
    head,
    ...deltas,
    { type: `${kind}-end`, ...at, ...(isSigned && kind !== 'refusal' && { signature }) } as ChatEvent,
  ]
}

/** Blocks are numbered in the order of their start, so those begin in theirs. */
function interleave(queues: ChatEvent[][], picks: Iterator<number>): ChatEvent[] {
  const events: ChatEvent[] = []
  let begun = 0
  while (queues.some((queue) => queue.length > 0)) {
    const open = queues.filter((queue, index) => queue.length > 0 && index <= begun)
    const queue = open[picks.next().value % open.length]
    const event = queue?.shift()
    if (!event) continue
    if (event.type.endsWith('-start')) begun++
    events.push(event)
  }
  return events
}

/** All that is said, in order of the alphabet: blocks may change places, but no text gets lost or into another kind. */
function meant(lanes: readonly { kind: Kind; parts: readonly string[] }[]): string {
  const told = lanes.map(({ kind, parts }) => {
    const whole = parts.join('')
    return `${kind}:${kind === 'tool-call' && whole.trim() === '' ? `${whole}{}` : whole}`
  })
  return told
    .filter((text) => !text.endsWith(':'))
    .sort()
    .join('\n')
}

function textIn(output: unknown): string {
  const items = output as { type: string; arguments?: string; content?: Part[]; summary?: Part[] }[]
  const told = items.map((item) => {
    if (item.type === 'function_call') return `tool-call:${item.arguments}`
    if (item.type === 'reasoning') return `reasoning:${item.summary?.map(({ text }) => text).join('')}`
    const [part] = item.content ?? []
    return part?.type === 'refusal' ? `refusal:${part.refusal}` : `text:${part?.text}`
  })
  return told
    .filter((text) => !text.endsWith(':'))
    .sort()
    .join('\n')
}

type Part = { type: string; text?: string; refusal?: string }

function linesOf(events: readonly unknown[]): ReadableStream<Uint8Array> {
  const text = events.map((event) => `${JSON.stringify(event)}\n`).join('')
  return new Blob([text]).stream()
}
