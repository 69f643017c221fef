/** Events of whole blocks for tests of written streams, and the blocks that a client would gather from what was written. */
import { expect } from 'bun:test'
import type { ChatEvent } from '@/chat/event'
import type { Signature } from '@/chat/request'
import type { JsonObject } from '@/lib/json'
import { dataOf, type encodeEvents } from './support'

/** Where an event belongs. */
export const at = (block: number, choice = 0) => ({ choice, block })
/** The first event of every stream. */
export const start: ChatEvent = { type: 'start', id: 'x', model: 'u', created: 0 }
/** Tokens of every class. */
export const usage = { uncached: 10, cacheRead: 4, cacheWrite5m: 2, cacheWrite1h: 1, output: 8, reasoning: 3 }
/** A signature of another format, and one of our own. */
export const foreign: Signature = { format: 'generate-content', value: 'AbC=' }
export const own: Signature = { format: 'messages', value: 'Eq=' }

/** A whole block of text, of a call, of reasoning; and the end of a choice. */
export const text = (block: number, ...parts: string[]): ChatEvent[] => [
  { type: 'text-start', ...at(block) },
  ...parts.map((part): ChatEvent => ({ type: 'text-delta', ...at(block), text: part })),
  { type: 'text-end', ...at(block) },
]
export const tool = (block: number, id: string, parts: string[], signature?: Signature): ChatEvent[] => [
  { type: 'tool-call-start', ...at(block), id, name: 'f' },
  ...parts.map((part): ChatEvent => ({ type: 'tool-call-delta', ...at(block), argumentsText: part })),
  { type: 'tool-call-end', ...at(block), signature },
]
export const thinking = (block: number, part: string, signature?: Signature): ChatEvent[] => [
  { type: 'reasoning-start', ...at(block) },
  { type: 'reasoning-delta', ...at(block), text: part },
  { type: 'reasoning-end', ...at(block), signature },
]
export const finish = (kind: 'stop' | 'tool-calls' | 'length' = 'stop'): ChatEvent => ({
  type: 'finish',
  choice: 0,
  finish: { kind },
})

/** The blocks a client would gather, each with its deltas joined; throws if the order is not the format's. */
export function blocksOf(frames: ReturnType<typeof encodeEvents>): JsonObject[] {
  const blocks: JsonObject[] = []
  let open = false
  for (const { type, index, content_block, delta } of dataOf(frames)) {
    if (type === 'content_block_start') {
      expect(open).toBe(false)
      expect(index).toBe(blocks.length)
      open = true
      blocks.push({
        ...(content_block as JsonObject),
        ...((content_block as JsonObject).type === 'tool_use' && { input: '' }),
      })
    } else if (type === 'content_block_delta') {
      expect(open).toBe(true)
      expect(index).toBe(blocks.length - 1)
      const block = blocks.at(-1) as Record<string, string>
      const { type: kind = '', ...fields } = delta as Record<string, string>
      const field = kind === 'input_json_delta' ? 'input' : kind.replace('_delta', '')
      block[field] += Object.values(fields)[0] as string
    } else if (type === 'content_block_stop') {
      expect(open).toBe(true)
      open = false
    }
  }
  expect(open).toBe(false)
  return blocks
}
