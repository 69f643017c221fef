/** Requests of other formats, encoded for chat-completions providers: fields, limits, warnings and refusals. */
import { describe, expect, test } from 'bun:test'
import { requestWith, traitsWith } from '@test/formats/chat-completions/support'
import { GatewayError } from '@/chat/error'
import type { ChatRequest } from '@/chat/request'
import { encodeRequest } from '@/formats/chat-completions/provider-side/encode-request'
import { cacheKeyOf } from '@/formats/openai'
import type { JsonObject } from '@/lib/json'

function encode(overrides: Partial<ChatRequest>, ...quirks: string[]): JsonObject {
  const { model, messages, ...rest } = encodeRequest(requestWith(overrides), traitsWith(...quirks)).body
  expect(model).toBe('alpha-2026-01')
  expect(Array.isArray(messages)).toBe(true)
  return rest
}

function features(overrides: Partial<ChatRequest>, ...quirks: string[]): string[] {
  return encodeRequest(requestWith(overrides), traitsWith(...quirks)).warnings.map(({ feature }) => feature)
}

const TOOLS = [
  { name: 'one', description: 'One', parameters: { type: 'object' }, strict: true },
  { name: 'two', cache: { ttl: '5m' as const } },
]
const wireTool = (name: string) => ({ type: 'function', function: { name } })

test('the system prompt is one message, without a client’s billing line', () => {
  const texts = ['x-anthropic-billing-header: cc_version=2.1', 'You are A.', 'Be kind.']
  const request = requestWith({
    system: texts.map((text) => ({ type: 'text', text })),
    turns: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
  })
  expect(encodeRequest(request, traitsWith()).body.messages).toEqual([
    { role: 'system', content: 'You are A.\n\nBe kind.' },
    { role: 'user', content: 'hi' },
  ])
})

describe('fields', () => {
  test('empty optional fields are not sent', () => {
    expect(encode({})).toEqual({})
    expect(encode({ tools: [], toolChoice: { type: 'auto' }, parallelToolCalls: true })).toEqual({})
  })

  test('fields that the format supports are sent', () => {
    expect(
      encode({
        sampling: {
          temperature: 0.5,
          topP: 0.9,
          frequencyPenalty: 1,
          presencePenalty: -1,
          seed: 7,
          stop: ['a', ''],
          logprobs: true,
          topLogprobs: 3,
        },
        choices: 2,
        userId: 'u',
        cacheKey: 'k',
        serviceTier: 'standard_only',
        verbosity: 'low',
      }),
    ).toEqual({
      temperature: 0.5,
      top_p: 0.9,
      frequency_penalty: 1,
      presence_penalty: -1,
      seed: 7,
      stop: ['a'],
      logprobs: true,
      top_logprobs: 3,
      n: 2,
      user: 'u',
      prompt_cache_key: cacheKeyOf(traitsWith(), 'k') ?? '',
      service_tier: 'default',
      verbosity: 'low',
    })
  })

  test('values out of range are clamped', () => {
    expect(encode({ sampling: { temperature: 3, topP: -1, presencePenalty: 9, topLogprobs: 99 } })).toEqual({
      temperature: 2,
      top_p: 0,
      presence_penalty: 2,
      top_logprobs: 20,
    })
  })

  test('fields that the format does not support are dropped with a warning', () => {
    expect(encode({ sampling: { topK: 5 }, serviceTier: 'odd' })).toEqual({})
    expect(features({ sampling: { topK: 5 }, serviceTier: 'odd' })).toEqual(['topK', 'serviceTier'])
  })

  test('fields that the model refuses are dropped with a warning', () => {
    const sampling = { temperature: 1, topP: 1, seed: 7 }
    expect(encode({ sampling }, 'no-sampling')).toEqual({ seed: 7 })
    expect(features({ sampling }, 'no-sampling')).toEqual(['temperature', 'topP'])
    expect(features({}, 'no-sampling')).toEqual([])
  })

  test('fields of this format that the hub does not know are sent; those of other formats are not', () => {
    const extensions = {
      'chat-completions': { metadata: { a: 'b' } },
      messages: { container: 'c' },
    }
    expect(encode({ extensions, stream: true })).toEqual({
      metadata: { a: 'b' },
      stream: true,
      stream_options: { include_usage: true },
    })
  })

  test('a long user id is sent as a hash', () => {
    const { user } = encode({ userId: JSON.stringify({ device_id: 'd'.repeat(64), session_id: 's' }) })
    expect(user).toMatch(/^[0-9a-f]{64}$/)
  })

  test('fields that no provider of this format supports are refused by name', () => {
    const nativeOnly = ['tools[1] (web_search_20250305)']
    expect(() => encode({ nativeOnly })).toThrow('This model cannot take tools[1] (web_search_20250305)')
  })

  test('more than four stop sequences are refused, because the service accepts four at most', () => {
    expect(() => encode({ sampling: { stop: ['a', 'b', 'c', 'd', 'e'] } })).toThrow(GatewayError)
  })
})

describe('streams', () => {
  test('streams always ask for usage', () => {
    expect(encode({ stream: true })).toEqual({ stream: true, stream_options: { include_usage: true } })
    expect(encode({ stream: true }, 'no-stream-options')).toEqual({ stream: true })
  })
})

describe('the output limit', () => {
  test('the output limit is sent in the field that the service reads, at most the model’s own', () => {
    expect(encode({ maxOutputTokens: 50 })).toEqual({ max_completion_tokens: 50 })
    expect(encode({ maxOutputTokens: 50 }, 'max_tokens')).toEqual({ max_tokens: 50 })
    expect(encode({ maxOutputTokens: 64_000 })).toEqual({ max_completion_tokens: 32_768 })
    expect(encode({ maxOutputTokens: 0 })).toEqual({ max_completion_tokens: 1 })
    expect(features({ maxOutputTokens: 64_000 })).toEqual(['max-output-tokens'])
  })
})

describe('reasoning', () => {
  const cases: [reasoning: ChatRequest['reasoning'], effort: string | undefined][] = [
    [{ effort: 'xhigh' }, 'xhigh'],
    [{ effort: 'low', budgetTokens: 30_000 }, 'low'],
    [{ budgetTokens: 0 }, 'none'],
    [{ budgetTokens: 1024 }, 'low'],
    [{ budgetTokens: 8192 }, 'medium'],
    [{ budgetTokens: 24_576 }, 'high'],
    [{ budgetTokens: -1 }, undefined],
    [{ visible: true }, undefined],
  ]
  for (const [reasoning, effort] of cases) {
    test(`reasoning ${JSON.stringify(reasoning)} is sent as ${effort ?? 'no effort field'}`, () => {
      expect(encode({ reasoning })).toEqual(effort === undefined ? {} : { reasoning_effort: effort })
    })
  }

  test('reasoning is dropped if the service has no field for it', () => {
    expect(encode({ reasoning: { effort: 'low' } }, 'no-reasoning-effort')).toEqual({})
    expect(features({ reasoning: { effort: 'low' } }, 'no-reasoning-effort')).toEqual(['reasoning'])
  })
})

describe('tools', () => {
  test('tools are functions, always with parameters', () => {
    expect(encode({ tools: TOOLS, parallelToolCalls: false })).toEqual({
      tools: [
        {
          type: 'function',
          function: { name: 'one', description: 'One', parameters: { type: 'object' }, strict: true },
        },
        { type: 'function', function: { name: 'two', parameters: { type: 'object', properties: {} } } },
      ],
      parallel_tool_calls: false,
    })
  })

  const choices: [choice: NonNullable<ChatRequest['toolChoice']>, sent: JsonObject | string][] = [
    [{ type: 'auto' }, 'auto'],
    [{ type: 'none' }, 'none'],
    [{ type: 'required' }, 'required'],
    [{ type: 'tool', name: 'one' }, wireTool('one')],
    [{ type: 'required', names: ['two'] }, wireTool('two')],
    [
      { type: 'required', names: ['one', 'two'] },
      { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [wireTool('one'), wireTool('two')] } },
    ],
    [
      { type: 'auto', names: ['one'] },
      { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [wireTool('one')] } },
    ],
  ]
  for (const [choice, sent] of choices) {
    test(`the tool choice ${JSON.stringify(choice)} is encoded`, () => {
      expect(encode({ tools: TOOLS, toolChoice: choice }).tool_choice).toEqual(sent)
    })
  }

  test('if the service cannot restrict tools, the tool list is shortened', () => {
    const sent = encode({ tools: TOOLS, toolChoice: { type: 'required', names: ['two'] } }, 'no-allowed-tools')
    expect(sent).toMatchObject({ tools: [{ function: { name: 'two' } }], tool_choice: 'required' })
    expect(sent.tools).toHaveLength(1)
  })

  test('a tool choice that cannot be expressed is refused', () => {
    expect(() => encode({ toolChoice: { type: 'required' } })).toThrow(GatewayError)
    const nobody: ChatRequest['toolChoice'] = { type: 'required', names: ['three'] }
    expect(() => encode({ tools: TOOLS, toolChoice: nobody }, 'no-allowed-tools')).toThrow(GatewayError)
  })
})

describe('the format of the answer', () => {
  test('an answer schema is sent', () => {
    const schema = { $schema: 's', type: 'object' }
    expect(encode({ output: { type: 'json-schema', schema } })).toEqual({
      response_format: { type: 'json_schema', json_schema: { name: 'response', schema } },
    })
    expect(
      encode({ output: { type: 'json-schema', schema, name: 'my name', description: 'd', strict: true } }),
    ).toEqual({
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'my_name', description: 'd', schema, strict: true },
      },
    })
  })

  test('JSON mode is also requested in the prompt’s text, because the service requires this', () => {
    const messages = (overrides: Partial<ChatRequest>) =>
      encodeRequest(requestWith({ output: { type: 'json' }, ...overrides }), traitsWith()).body.messages
    expect(encode({ output: { type: 'json' } })).toEqual({ response_format: { type: 'json_object' } })
    expect(messages({})).toEqual([
      { role: 'system', content: 'Answer with a JSON object.' },
      { role: 'user', content: 'hi' },
    ])
    expect(messages({ system: [{ type: 'text', text: 'Be kind.' }] })).toEqual([
      { role: 'system', content: 'Be kind.\n\nAnswer with a JSON object.' },
      { role: 'user', content: 'hi' },
    ])
    expect(messages({ system: [{ type: 'text', text: 'Speak json.' }] })).toEqual([
      { role: 'system', content: 'Speak json.' },
      { role: 'user', content: 'hi' },
    ])
  })
})
