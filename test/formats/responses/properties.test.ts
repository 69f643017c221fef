/** Random order, ids and positions in streams of a responses provider: the hub and the strictest client read the same answer. */
import { describe, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import { isJsonObject, type JsonObject } from '@/lib/json'
import { pass, readByLibrary } from './passing'
import { answerOf, BEGINNING, callItem, completed, HUB_USAGE, textItem, thoughtItem } from './support'

const words = fc.array(fc.string({ minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 3 })
const item = fc.record({ kind: fc.constantFrom('text', 'call', 'thought'), words })

/** What a dialect does. */
const dialect = fc.record({
  /** Places between two items that are left free. */
  gap: fc.nat(3),
  first: fc.nat(2),
  rotatesIds: fc.boolean(),
  /** Kinds of events that it leaves out. */
  lacks: fc.subarray(['part.added', 'part.done', 'text.done', 'arguments.done']),
  hasOutput: fc.boolean(),
  noise: fc.array(
    fc.tuple(fc.nat(50), fc.constantFrom<JsonObject[]>({}, { type: 'ping' }, { type: 'response.novel' })),
    {
      maxLength: 4,
    },
  ),
  /** In which order the items speak; empty = one after another. */
  turns: fc.array(fc.nat(7), { maxLength: 60 }),
})

type Item = { kind: string; words: string[] }
type Dialect = typeof dialect extends fc.Arbitrary<infer Value> ? Value : never

function eventsOf({ kind, words }: Item, index: number): JsonObject[] {
  if (kind === 'text') return textItem(index, words)
  return kind === 'call' ? callItem(index, 'f', [JSON.stringify({ words })]) : thoughtItem(index, words)
}

function streamOf(items: readonly Item[], how: Dialect): JsonObject[] {
  const lanes = items.map((one, index) => eventsOf(one, how.first + index * (how.gap + 1)))
  const output = lanes.flatMap((lane) =>
    lane.flatMap(({ type, item }) => (isEnd(type) && isJsonObject(item) ? [item] : [])),
  )
  const spoken = woven(lanes, how.turns)
    .filter(({ type }) => !how.lacks.some((end) => String(type).endsWith(end)))
    .map((one, index) => (how.rotatesIds && one.item_id !== undefined ? { ...one, item_id: `x${index}` } : one))
  const stream = [...BEGINNING, ...spoken, completed(how.hasOutput ? output : [])]
  for (const [at, noise] of how.noise) stream.splice(Math.min(at, stream.length - 1), 0, noise)
  return stream
}

function isEnd(type: unknown): boolean {
  return type === 'response.output_item.done'
}

/** Each lane in its order, whoever's turn it is; what is left comes one after another. */
function woven(lanes: readonly JsonObject[][], turns: readonly number[]): JsonObject[] {
  const queues = lanes.map((lane) => [...lane])
  const taken = turns.flatMap((turn) => queues[turn % queues.length]?.shift() ?? [])
  return [...taken, ...queues.flat()] as JsonObject[]
}

const anyCase = fc.tuple(fc.array(item, { minLength: 1, maxLength: 4 }), dialect)

describe('random variants of provider streams', () => {
  test('for any variant of the stream the gateway reads the same blocks, usage and ending', () => {
    fc.assert(
      fc.property(anyCase, ([items, how]) => {
        const plain = answerOf([...BEGINNING, ...items.flatMap(eventsOf), completed()])
        const said = answerOf(streamOf(items, how))
        expect(said.blocks.map(withoutIds).sort()).toEqual(plain.blocks.map(withoutIds).sort())
        expect(said).toMatchObject({ usage: HUB_USAGE, isEnded: true, finishes: plain.finishes })
      }),
    )
  })

  test('for any variant of the stream the library reads the same texts and calls', async () => {
    await fc.assert(
      fc.asyncProperty(anyCase, async ([items, how]) => {
        const { output_text: text, output } = await readByLibrary(pass(streamOf(items, how)).events)
        expect(text).toBe(items.flatMap(({ kind, words }) => (kind === 'text' ? words : [])).join(''))
        const calls = output.flatMap((one) => (one.type === 'function_call' ? [one.arguments] : []))
        expect(calls).toEqual(items.flatMap(({ kind, words }) => (kind === 'call' ? [JSON.stringify({ words })] : [])))
      }),
    )
  })
})

/** Ids follow the places, which a dialect may choose. */
function withoutIds(block: string): string {
  return block.replace(/call_\d+/, 'call').replace(/rs_\d+:proof\]$/, 'rs:proof]')
}
