/** messages on both sides: replaced fields, removed fields, and everything else unchanged. */
import { describe, expect, test } from 'bun:test'
import { passHooks } from '@test/formats/pass-hooks'
import { fc } from '@test/support/property'
import { messages } from '@/formats/messages/index'
import { type JsonObject, type JsonValue, parseJson } from '@/lib/json'
import { rememberNumbers } from '@/lib/json-source/as-written'
import { complaint, context, readFixture, traits, wireBody } from './support'

const { passThrough } = messages

function pass(changes: JsonObject = {}, maxOutputTokens?: number, ...quirks: string[]): JsonObject {
  const body = wireBody(changes)
  const before = JSON.stringify(body)
  const request = messages.decodeRequest(body)
  const passed = passThrough.request(
    body,
    maxOutputTokens ? { ...request, maxOutputTokens } : request,
    traits(...quirks),
  )
  expect(JSON.stringify(body)).toBe(before)
  return passed
}

describe('a request', () => {
  test('a passed-through request has the upstream model, and is otherwise unchanged', () => {
    const body = parseJson(readFixture('claude-code-request.json')) as JsonObject
    const passed = passThrough.request({ ...body, fallback: ['svc/beta'] }, messages.decodeRequest(body), traits())
    expect(passed).toEqual({ ...body, model: 'upstream-model' })
    expect(passed.messages).toBe(body.messages)
  })

  test('a lowered output limit replaces the caller’s, and the thinking budget is lowered below it', () => {
    const thinking = { type: 'enabled', budget_tokens: 4000, display: 'omitted' }
    expect(pass({ max_tokens: 8000 }, 500).max_tokens).toBe(500)
    expect(pass({ max_tokens: 8000, thinking }, 6000).thinking).toEqual(thinking)
    expect(pass({ max_tokens: 8000, thinking }, 3000).thinking).toEqual({ ...thinking, budget_tokens: 2999 })
    expect(pass({ max_tokens: 8000, thinking }, 1024).thinking).toEqual({ type: 'disabled' })
  })

  test('the thinking budget is below a lowered limit in any notation, and other numbers keep their digits', () => {
    const text = `{"model":"svc/alpha","max_tokens":8000.0,"thinking":{"type":"enabled","budget_tokens":4e3},
      "metadata":{"id":1098765432109876543},"messages":[{"role":"user","content":"hi"}]}`
    const body = parseJson(text) as JsonObject
    rememberNumbers(body, text)
    const request = messages.decodeRequest(body)
    const passed = passThrough.request(body, { ...request, maxOutputTokens: 3000 }, traits())
    expect(passed).toMatchObject({ max_tokens: 3000, thinking: { type: 'enabled', budget_tokens: 2999 } })
    expect(JSON.stringify(passed.metadata)).toBe('{"id":1098765432109876543}')
    expect(passThrough.request(body, request, traits())).toMatchObject({
      max_tokens: 8000,
      thinking: { type: 'enabled', budget_tokens: 4000 },
    })
  })

  test('sampling is removed from a passed-through request if the model has none', () => {
    const sampling = { temperature: 0.5, top_p: 0.5, top_k: 3 }
    expect(pass(sampling)).toMatchObject(sampling)
    expect(Object.keys(pass(sampling, undefined, 'no-sampling'))).toEqual(['model', 'max_tokens', 'messages'])
  })

  test('thinking and effort are removed from a passed-through request if the model has none', () => {
    const thinking = { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } }
    expect(pass(thinking)).toMatchObject(thinking)
    expect(Object.keys(pass(thinking, undefined, 'no-thinking'))).toEqual(['model', 'max_tokens', 'messages'])
    const format = { type: 'json_schema', schema: {} }
    const both = { output_config: { effort: 'high', format } }
    expect(pass(both, undefined, 'no-thinking').output_config).toEqual({ format })
  })

  test('thinking is adapted to a model without budgets, or to one that always thinks', () => {
    const budget = { thinking: { type: 'enabled', budget_tokens: 4000, display: 'omitted' } }
    expect(pass(budget, undefined, 'adaptive-thinking')).toMatchObject({
      thinking: { type: 'adaptive', display: 'omitted' },
      output_config: { effort: 'medium' },
    })
    expect(
      pass({ thinking: { type: 'enabled', budget_tokens: 1024 } }, undefined, 'adaptive-thinking').thinking,
    ).toEqual({
      type: 'adaptive',
      display: 'summarized',
    })
    const named = { ...budget, output_config: { effort: 'max' } }
    expect(pass(named, undefined, 'adaptive-thinking').output_config).toEqual({ effort: 'max' })
    const off = { thinking: { type: 'disabled' } }
    expect(pass(off, undefined, 'adaptive-thinking')).toMatchObject(off)
    expect(pass(off, undefined, 'adaptive-thinking', 'always-thinking')).toMatchObject({
      thinking: { type: 'adaptive' },
      output_config: { effort: 'low' },
    })
  })

  test('a field that starts another, unpriced model call is refused', () => {
    const compaction = { context_management: { edits: [{ type: 'clear_tool_uses' }, { type: 'compact_20260112' }] } }
    expect(complaint(() => pass(compaction)).param).toBe('context_management.edits[1].type')
    expect(pass(compaction, undefined, 'unpriced-extras')).toMatchObject(compaction)
    const clearing = { context_management: { edits: [{ type: 'clear_thinking_20251015' }] } }
    expect(pass(clearing)).toMatchObject(clearing)
  })
})

describe('thinking', () => {
  const own = { type: 'thinking', thinking: '', signature: 'EqQB+/8=' }
  const marked = { type: 'thinking', thinking: 'x', signature: 'svc.generate-content.call.AbC=' }
  const call = { type: 'tool_use', id: 't', name: 'f', input: {} }
  const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 'ok' }] }
  const history = (...content: JsonValue[]) => [{ role: 'user', content: 'a' }, { role: 'assistant', content }, result]

  test.each<[JsonValue]>([
    [marked],
    [{ type: 'thinking', thinking: 'x', signature: '' }],
    [{ type: 'thinking', thinking: 'x' }],
    [{ type: 'thinking', thinking: 'x', signature: 'svc.unsigned' }],
    [{ type: 'redacted_thinking', data: 'svc.generate-content.reasoning.Ab' }],
  ])('another provider’s thinking is removed: %j', (block) => {
    expect(pass({ messages: history(own, block, call) }).messages).toEqual(history(own, call))
  })

  test('the provider’s own thinking is kept', () => {
    const kept = history(own, { type: 'redacted_thinking', data: 'Emw=' }, call)
    expect(pass({ messages: kept }).messages).toEqual(kept)
  })

  test('a message that only had removed thinking is dropped', () => {
    const turns = [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: [marked] },
      { role: 'user', content: 'b' },
    ]
    expect(pass({ messages: turns }).messages).toEqual([turns[0], turns[2]] as never)
  })

  test('if a tool loop lost its thinking, thinking is turned off', () => {
    const thinking = { type: 'enabled', budget_tokens: 1024 }
    const on = { thinking, max_tokens: 4000 }
    expect(pass({ ...on, messages: history(marked, call) }).thinking).toEqual({ type: 'disabled' })
    expect(pass({ ...on, messages: history(own, marked, call) }).thinking).toEqual(thinking)
    expect(pass({ ...on, messages: history(call) }).thinking).toEqual(thinking)
    expect(pass({ thinking: { type: 'adaptive' }, messages: history(marked, call) }).thinking).toEqual({
      type: 'adaptive',
    })
  })
})

describe('an answer', () => {
  test('an answer has the public model, and is otherwise the same byte for byte', () => {
    const text = readFixture('thinking-tools-response.json')
    const passed = passThrough.response(text, parseJson(text) as JsonObject, context, passHooks())
    expect(passed).toBe(text.replace('"upstream-model"', '"svc/alpha"'))
  })

  test('an answer without a model is unchanged', () => {
    expect(passThrough.response('{"a": 1}', { a: 1 }, context, passHooks())).toStartWith('{"a": 1,')
  })

  test('if an answer’s text contains its own model, the text is unchanged', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (said, model) => {
        const answer = {
          content: [{ type: 'text', text: said }, { model: 'inner' }],
          model,
          text: `"model":"${model}"`,
          usage: { input_tokens: 1, output_tokens: 1 },
        }
        const passed = passThrough.response(JSON.stringify(answer), answer, context, passHooks())
        expect(JSON.parse(passed)).toEqual({ ...answer, model: 'svc/alpha' })
      }),
    )
  })
})

describe('an event', () => {
  const event = (data: string) => passThrough.createStream(context, passHooks()).event(data, parseJson(data))

  test('only the event message_start changes', () => {
    for (const block of readFixture('thinking-tools.sse').split('\n\n').filter(Boolean)) {
      const data = block.split('data: ')[1] ?? ''
      if (data.includes('"text":"I\'ll look."}}')) continue
      expect(event(data)).toBe(data.replace('"upstream-model"', '"svc/alpha"'))
    }
  })

  test.each(['text', 'thinking'])(
    'a block of %s that begins with text is split into an empty start and a delta',
    (kind) => {
      const hooks = passHooks()
      const stream = passThrough.createStream(context, hooks)
      const block = { type: kind, [kind]: 'Half\n', ...(kind === 'thinking' && { signature: '' }) }
      const data = JSON.stringify({ type: 'content_block_start', index: 2, content_block: block })
      const json = parseJson(data)
      const [start] = stream.before?.(json) ?? []
      expect(start?.event).toBe('content_block_start')
      expect(parseJson(start?.data ?? '')).toEqual({
        ...(json as JsonObject),
        content_block: { ...block, [kind]: '' },
      })
      expect(stream.nameOf?.(json)).toBe('content_block_delta')
      const delta = { type: `${kind}_delta`, [kind]: 'Half\n' }
      expect(parseJson(stream.event(data, json) ?? '')).toEqual({ type: 'content_block_delta', index: 2, delta })
      expect(hooks.repairs).toEqual(['delta'])
    },
  )

  test('a repeated start event is hidden', () => {
    const hooks = passHooks()
    const stream = passThrough.createStream(context, hooks)
    const usage = { input_tokens: 1, output_tokens: 1 }
    const event = JSON.stringify({ type: 'message_start', message: { model: context.model, usage } })
    expect(stream.event(event, parseJson(event))).toBe(event)
    expect(stream.event(event, parseJson(event))).toBeUndefined()
    expect(hooks.repairs).toEqual(['type'])
  })

  test('a model name inside the text is unchanged', () => {
    const data = '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"upstream-model"}}'
    expect(event(data)).toBe(data)
  })

  test.each([
    '{"type":"error","error":{"type":"api_error","message":"secret"}}',
    '{"error":{"message":"secret"}}',
    'broken',
  ])('a passed-through event is hidden: %s', (data) => {
    expect(event(data)).toBeUndefined()
  })
})
