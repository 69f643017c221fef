/** Requests of other formats, encoded for responses providers: fields, limits, warnings and refusals. */
import { describe, expect, test } from 'bun:test'
import { requestWith, traitsWith } from '@test/formats/responses/support'
import { GatewayError } from '@/chat/error'
import type { ChatRequest } from '@/chat/request'
import { cacheKeyOf } from '@/formats/openai'
import { encodeRequest } from '@/formats/responses/provider-side/encode-request'
import type { JsonObject } from '@/lib/json'

const ALWAYS = { store: false, include: ['reasoning.encrypted_content'] }
const INPUT = [{ role: 'user', content: 'hi' }]

function encode(overrides: Partial<ChatRequest>, ...quirks: string[]): JsonObject {
  const { model, ...rest } = encodeRequest(requestWith(overrides), traitsWith(...quirks)).body
  expect(model).toBe('alpha-2026-01')
  return rest
}

function features(overrides: Partial<ChatRequest>, ...quirks: string[]): string[] {
  return encodeRequest(requestWith(overrides), traitsWith(...quirks)).warnings.map(({ feature }) => feature)
}

test('an encoded request with only a text has only the fixed fields', () => {
  expect(encode({})).toEqual({ ...ALWAYS, input: INPUT })
  expect(encode({ stream: true }).stream).toBe(true)
  expect(encode({}, 'no-reasoning')).toEqual({ store: false, input: INPUT })
})

describe('the system prompt', () => {
  const texts = ['x-anthropic-billing-header: cc_version=2.1', 'You are A.', 'Be kind.']
  const system = texts.map((text) => ({ type: 'text' as const, text }))

  test('the system prompt is the instructions, without a client’s billing line', () => {
    expect(encode({ system })).toEqual({ ...ALWAYS, instructions: 'You are A.\n\nBe kind.', input: INPUT })
  })

  test('the system prompt becomes a message if the request has no other, or if a part of it is cached', () => {
    const parts = texts.slice(1).map((text) => ({ type: 'input_text', text }))
    expect(encode({ system, turns: [] })).toEqual({ ...ALWAYS, input: [{ role: 'developer', content: parts }] })
    const marked = system.map((block) => ({ ...block, cache: { ttl: '1h' as const } }))
    const mark = { prompt_cache_breakpoint: { mode: 'explicit', ttl: '12h' } }
    expect(encode({ system: marked }, 'cache-breakpoints').input).toEqual([
      { role: 'developer', content: parts.map((part) => ({ ...part, ...mark })) },
      ...INPUT,
    ])
    expect(features({ system: marked })).toEqual(['cacheHints'])
  })
})

describe('tools', () => {
  const tools = [
    { name: 'one', description: 'One', parameters: { type: 'object', required: ['a'] } },
    { name: 'two', strict: true },
  ]
  const named = (name: string) => ({ type: 'function', name })

  test('tools always state whether they are strict, because defaults differ', () => {
    expect(encode({ tools, parallelToolCalls: false })).toEqual({
      ...ALWAYS,
      input: INPUT,
      tools: [
        { ...named('one'), description: 'One', parameters: { type: 'object', required: ['a'] }, strict: false },
        { ...named('two'), parameters: { type: 'object', properties: {} }, strict: true },
      ],
      parallel_tool_calls: false,
    })
  })

  test.each<[ChatRequest['toolChoice'], unknown]>([
    [{ type: 'auto' }, 'auto'],
    [{ type: 'required' }, 'required'],
    [{ type: 'none' }, 'none'],
    [{ type: 'tool', name: 'two' }, named('two')],
    [{ type: 'required', names: ['one'] }, named('one')],
    [
      { type: 'auto', names: ['one', 'two'] },
      { type: 'allowed_tools', mode: 'auto', tools: [named('one'), named('two')] },
    ],
  ])('the tool choice is sent as %j', (toolChoice, said) => {
    expect(encode({ tools, ...(toolChoice && { toolChoice }) }).tool_choice).toEqual(said as JsonObject)
  })

  test('if the tool choice cannot be expressed, the tool list is shortened', () => {
    const sent = encode({ tools, toolChoice: { type: 'auto', names: ['two'] } }, 'no-allowed-tools')
    expect(sent).toMatchObject({ tool_choice: 'auto', tools: [{ name: 'two' }] })
  })

  test('a required tool call is refused if there are no tools', () => {
    expect(() => encode({ toolChoice: { type: 'required' } })).toThrow('no tools')
  })
})

describe('the format of the answer', () => {
  test('an answer schema gets a valid name', () => {
    const schema = { type: 'object' }
    const output = { type: 'json-schema' as const, schema, name: 'a b', description: 'D' }
    expect(encode({ output, verbosity: 'low' }).text).toEqual({
      format: { type: 'json_schema', name: 'a_b', description: 'D', schema, strict: false },
      verbosity: 'low',
    })
    expect(encode({ output: { type: 'json-schema', schema, strict: true } }).text).toMatchObject({
      format: { name: 'response', strict: true },
    })
  })

  test('JSON mode is only sent if the input mentions JSON', () => {
    expect(encode({ output: { type: 'json' }, system: [{ type: 'text', text: 'JSON!' }] })).toMatchObject({
      text: { format: { type: 'json_object' } },
      input: [{ role: 'developer', content: 'Answer with a JSON object.' }, ...INPUT],
    })
    const turns = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'as Json' }] }]
    expect(encode({ output: { type: 'json' }, turns }).input).toEqual([{ role: 'user', content: 'as Json' }])
  })

  test('verbosity is omitted if the model has no such field', () => {
    expect(encode({ verbosity: 'high' }, 'no-verbosity').text).toBeUndefined()
    expect(features({ verbosity: 'high' }, 'no-verbosity')).toEqual(['verbosity'])
  })
})

describe('reasoning', () => {
  test.each<[NonNullable<ChatRequest['reasoning']>, JsonObject | undefined]>([
    [{ effort: 'high' }, { effort: 'high' }],
    [
      { effort: 'max', visible: true },
      { effort: 'max', summary: 'auto' },
    ],
    [{ effort: 'none', visible: true }, { effort: 'none' }],
    [{ visible: true }, { summary: 'auto' }],
    [{ budgetTokens: 1_024 }, { effort: 'low' }],
    [{ budgetTokens: 9_000 }, { effort: 'medium' }],
    [{ budgetTokens: 30_000 }, { effort: 'high' }],
    [{ budgetTokens: 0, visible: true }, { effort: 'none' }],
    [{ budgetTokens: -1 }, undefined],
  ])('reasoning %j is encoded', (reasoning, said) => {
    expect(encode({ reasoning }).reasoning).toEqual(said)
  })

  test('reasoning is omitted if the model has none, with a warning only if it was requested', () => {
    expect(encode({ reasoning: { effort: 'low' } }, 'no-reasoning').reasoning).toBeUndefined()
    expect(features({ reasoning: { effort: 'low' } }, 'no-reasoning')).toEqual(['reasoning'])
    expect(features({ reasoning: { effort: 'none' } }, 'no-reasoning')).toEqual([])
  })
})

describe('sampling', () => {
  test('sampling fields that the format supports are sent', () => {
    const sampling = {
      ...{ temperature: 3, topP: -1, topK: 5, frequencyPenalty: 1, presencePenalty: 1, seed: 7 },
      ...{ stop: [''], logprobs: true, topLogprobs: 99 },
    }
    expect(encode({ sampling })).toEqual({
      ...{ store: false, input: INPUT, temperature: 2, top_p: 0, top_logprobs: 20 },
      include: ['reasoning.encrypted_content', 'message.output_text.logprobs'],
    })
    expect(features({ sampling })).toEqual(['topK', 'frequencyPenalty', 'presencePenalty', 'seed'])
  })

  test('sampling is omitted for a model without it, unless a field constrains the answer', () => {
    expect(encode({ sampling: { temperature: 1 } }, 'no-sampling')).toEqual({ ...ALWAYS, input: INPUT })
    expect(features({ sampling: { temperature: 1, topP: 1 } }, 'no-sampling')).toEqual(['temperature', 'topP'])
    const lossy = { order: [], only: [], ignore: [], lossy: true as const }
    const sampling = { logprobs: true, stop: ['END'] }
    expect(() => encode({ sampling: { logprobs: true } }, 'no-sampling')).toThrow('logprobs')
    expect(() => encode({ sampling: { stop: ['END'] } })).toThrow('stop')
    expect(encode({ sampling, preferences: lossy }, 'no-sampling')).toEqual({ ...ALWAYS, input: INPUT })
    expect(features({ sampling, preferences: lossy }, 'no-sampling')).toEqual(['stop', 'logprobs'])
  })

  test.each<[string, Partial<ChatRequest>]>([
    ['stop', { sampling: { stop: ['END'] } }],
    ['n', { choices: 2 }],
    ['tools[1]', { nativeOnly: ['tools[1] (mcp)'] }],
  ])('a field that would change the answer is refused by name: %s', (param, overrides) => {
    let thrown: unknown
    try {
      encode(overrides)
    } catch (error) {
      thrown = error
    }
    expect(thrown).toBeInstanceOf(GatewayError)
    expect(thrown).toMatchObject({ kind: 'invalid_request', options: { param } })
  })
})

test('the output limit is raised to the provider’s minimum', () => {
  expect(encode({ maxOutputTokens: 5 }).max_output_tokens).toBe(16)
  expect(encode({ maxOutputTokens: 99_999 }).max_output_tokens).toBe(32_768)
  expect(features({ maxOutputTokens: 5 })).toEqual(['max-output-tokens'])
})

test('user id and service tier are sent', () => {
  expect(encode({ userId: 'u', cacheKey: 'k', serviceTier: 'standard_only' })).toMatchObject({
    ...{ safety_identifier: 'u', prompt_cache_key: cacheKeyOf(traitsWith(), 'k') ?? '', service_tier: 'default' },
  })
  expect(String(encode({ userId: 'u'.repeat(99) }).safety_identifier)).toHaveLength(64)
  expect(features({ serviceTier: 'warp' })).toEqual(['serviceTier'])
})
