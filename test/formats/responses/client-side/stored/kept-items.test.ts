/** Stored input items: without fields that the item's kind does not have, and within size limits. */
import { describe, expect, test } from 'bun:test'
import { keptItems } from '@/formats/responses/client-side/stored/kept-items'
import type { JsonObject } from '@/lib/json'

/** What nobody pays for. */
const BALLAST = { ballast: 'x'.repeat(1_000), more: [{ ballast: 1 }] }

describe('storing input items', () => {
  test.each<[string, JsonObject]>([
    ['a message', { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }],
    ['a message without its type', { role: 'user', content: 'Hi' }],
    ['a call', { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'look', arguments: '{"a":1}' }],
    ['a result', { type: 'function_call_output', call_id: 'call_1', output: 'done' }],
    ['a thought', { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'so' }] }],
  ])('input items are stored without fields that %s does not have, at any depth', (_, item) => {
    const { content } = item
    const heavy = {
      ...item,
      ...BALLAST,
      ...(Array.isArray(content) && { content: content.map((part) => ({ ...(part as JsonObject), ...BALLAST })) }),
    }
    expect(keptItems([heavy])).toEqual([item])
  })

  test('input items with an overlong name are not stored', () => {
    const call = { type: 'function_call', call_id: 'x'.repeat(513), name: 'look', arguments: '{}' }
    expect(keptItems([call])).toBeUndefined()
    expect(keptItems([{ ...call, call_id: 'x'.repeat(512) }])).toHaveLength(1)
  })

  test('input items are not stored if items for providers only exceed 128 Ki characters', () => {
    const unread = (count: number) => ({ type: 'vendor_item', data: 'x'.repeat(count) })
    expect(keptItems([unread(64 * 1024), unread(63 * 1024)])).toHaveLength(2)
    expect(keptItems([unread(64 * 1024), unread(64 * 1024)])).toBeUndefined()
  })
})
