/** messages requests, decoded: every limit has an error, known fields are decoded, unknown fields are kept. */
import { describe, expect, test } from 'bun:test'
import { complaint, readFixture, wireBody } from '@test/formats/messages/support'
import { GatewayError } from '@/chat/error'
import { messages } from '@/formats/messages/index'
import type { JsonObject } from '@/lib/json'

const decode = (changes: JsonObject = {}) => messages.decodeRequest(wireBody(changes))

describe('limits', () => {
  test.each<[string, JsonObject, string, string]>([
    ['no model', { model: undefined }, 'model', 'model is required'],
    ['empty model', { model: '' }, 'model', 'model must not be empty'],
    ['no max_tokens', { max_tokens: undefined }, 'max_tokens', 'max_tokens is required'],
    ['negative max_tokens', { max_tokens: -1 }, 'max_tokens', 'max_tokens must be at least 0'],
    ['fractional max_tokens', { max_tokens: 1.5 }, 'max_tokens', 'max_tokens must be an integer'],
    ['text max_tokens', { max_tokens: '5' }, 'max_tokens', 'max_tokens must be an integer'],
    ['infinite max_tokens', { max_tokens: Number.POSITIVE_INFINITY }, 'max_tokens', 'max_tokens must be an integer'],
    ['huge max_tokens', { max_tokens: 2 ** 53 }, 'max_tokens', 'max_tokens must be at most 1000000'],
    ['hot', { temperature: 1.01 }, 'temperature', 'temperature must be at most 1'],
    ['cold', { temperature: -0.1 }, 'temperature', 'temperature must be at least 0'],
    ['text temperature', { temperature: '1' }, 'temperature', 'temperature must be a number'],
    ['top_p', { top_p: 2 }, 'top_p', 'top_p must be at most 1'],
    ['top_k', { top_k: 0.5 }, 'top_k', 'top_k must be an integer'],
    ['no messages', { messages: [] }, 'messages', 'messages must have at least 1 item'],
    ['stream', { stream: 'yes' }, 'stream', 'stream must be true or false'],
    ['stop', { stop_sequences: 'END' }, 'stop_sequences', 'stop_sequences must be an array'],
    ['empty stop', { stop_sequences: [''] }, 'stop_sequences[0]', 'stop_sequences[0] must not be empty'],
    ['fallback', { fallback: [3] }, 'fallback[0]', 'fallback[0] must be a string'],
    ['null', { temperature: null }, 'temperature', 'temperature must be a number'],
    [
      'role',
      { messages: [{ role: 'tool', content: 'x' }] },
      'messages[0].role',
      'messages[0].role must be one of "user", "assistant", "system"',
    ],
    [
      'content',
      { messages: [{ role: 'user', content: 3 }] },
      'messages[0].content',
      'messages[0].content must be a string or an array of content blocks, each with a type',
    ],
    [
      'block without type',
      { messages: [{ role: 'user', content: [{ text: 'x' }] }] },
      'messages[0].content[0]',
      'messages[0].content[0] must be a content block with a type',
    ],
    [
      'block',
      { messages: [{ role: 'user', content: [{ type: 'text', text: 5 }] }] },
      'messages[0].content[0].text',
      'messages[0].content[0].text must be a string',
    ],
    [
      'nested block',
      {
        messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: [{ type: 'text' }] }] }],
      },
      'messages[0].content[0].content[0].text',
      'messages[0].content[0].content[0].text is required',
    ],
    [
      'cache ttl',
      {
        messages: [
          { role: 'user', content: [{ type: 'text', text: 'x', cache_control: { type: 'ephemeral', ttl: '9h' } }] },
        ],
      },
      'messages[0].content[0].cache_control.ttl',
      'messages[0].content[0].cache_control.ttl must be one of "5m", "1h"',
    ],
    [
      'image source',
      { messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'ftp' } }] }] },
      'messages[0].content[0].source',
      'messages[0].content[0].source must be an object of type base64 (media_type, data), url (url) or file (file_id)',
    ],
    [
      'a result of the assistant',
      { messages: [{ role: 'assistant', content: [{ type: 'tool_result', tool_use_id: 't' }] }] },
      'messages[0].content[0]',
      'messages[0].content[0] of type tool_result must be in a message of role user',
    ],
    [
      'a call of the user',
      { messages: [{ role: 'user', content: [{ type: 'tool_use', id: 't', name: 'f', input: {} }] }] },
      'messages[0].content[0]',
      'messages[0].content[0] of type tool_use must be in a message of role assistant',
    ],
    ['tool schema', { tools: [{ name: 'f' }] }, 'tools[0].input_schema', 'tools[0].input_schema is required'],
    ['tool name', { tools: [{ name: '', input_schema: {} }] }, 'tools[0].name', 'tools[0].name must not be empty'],
    [
      'tool choice',
      { tool_choice: { type: 'some' } },
      'tool_choice',
      'tool_choice must be an object of type auto, any, none, or tool with a name',
    ],
    ['tool choice name', { tool_choice: { type: 'tool' } }, 'tool_choice.name', 'tool_choice.name is required'],
    [
      'budget',
      { thinking: { type: 'enabled', budget_tokens: 10 } },
      'thinking.budget_tokens',
      'thinking.budget_tokens must be at least 1024',
    ],
    ['service tier', { service_tier: 'gold' }, 'service_tier', 'service_tier must be one of "auto", "standard_only"'],
    ['system block', { system: [{ type: 'image' }] }, 'system[0]', 'system[0] must be a text block'],
    ...[0, -1, 1.5, '5', 2 ** 60].map((limit): [string, JsonObject, string, string] => [
      `${limit} uses of a tool`,
      { tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: limit as number }] },
      'tools[0].max_uses',
      'tools[0].max_uses must be a positive integer',
    ]),
    [
      'no token limit for a page',
      { tools: [{ type: 'web_fetch_20250910', name: 'web_fetch', max_content_tokens: 0 }] },
      'tools[0].max_content_tokens',
      'tools[0].max_content_tokens must be a positive integer',
    ],
    [
      'the older output field',
      { output_format: 'json' },
      'output_format',
      'output_format must be an object of type json_schema with a schema',
    ],
  ])('a request is refused: %s', (_, changes, param, message) => {
    expect(complaint(() => decode(changes))).toEqual({ param, message })
    expect(() => decode(changes)).toThrow(GatewayError)
  })

  test('a body that is no object is refused', () => {
    expect(complaint(() => messages.decodeRequest([] as never)).message).toBe('the body must be an object')
  })

  test('values at their limits are allowed', () => {
    const request = decode({ max_tokens: 1_000_000, temperature: 0, top_p: 1 })
    expect(request.maxOutputTokens).toBe(1_000_000)
    expect(request.sampling).toMatchObject({ temperature: 0, topP: 1 })
  })
})

describe('a simple request', () => {
  test('a simple request becomes one user turn', () => {
    expect(decode()).toMatchObject({
      model: 'svc/alpha',
      stream: false,
      turns: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
      maxOutputTokens: 1024,
      choices: 1,
      output: { type: 'text' },
      fallback: [],
    })
    expect(decode().nativeOnly).toBeUndefined()
  })

  test('sampling, stop sequences, user, tier and fallback of a request are decoded', () => {
    const request = decode({
      temperature: 0.5,
      top_p: 0.9,
      top_k: 40,
      stop_sequences: ['END'],
      metadata: { user_id: 'u1' },
      service_tier: 'standard_only',
      fallback: ['svc/beta'],
      stream: true,
    })
    expect(request).toMatchObject({
      stream: true,
      sampling: { temperature: 0.5, topP: 0.9, topK: 40, stop: ['END'] },
      userId: 'u1',
      serviceTier: 'standard_only',
      fallback: ['svc/beta'],
    })
  })

  test('decoding never changes the body', () => {
    const body = JSON.parse(readFixture('claude-code-request.json')) as JsonObject
    const before = JSON.stringify(body)
    messages.decodeRequest(body)
    expect(JSON.stringify(body)).toBe(before)
  })

  test('a field with the name __proto__ is an ordinary field', () => {
    const body = JSON.parse(
      '{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"x"}],"__proto__":{"a":1}}',
    )
    const { extensions } = messages.decodeRequest(body)
    expect(Object.keys(extensions.messages ?? {})).toEqual(['__proto__'])
    expect(({} as { a?: number }).a).toBeUndefined()
  })
})

describe('a coding agent', () => {
  const request = messages.decodeRequest(JSON.parse(readFixture('claude-code-request.json')) as JsonObject)

  test('Claude Code’s billing line is removed, and its cache marks are kept', () => {
    expect(request.system).toEqual([
      { type: 'text', text: 'You are a coding agent.', cache: { ttl: '1h' } },
      { type: 'text', text: 'Long prompt.', cache: { ttl: '5m' } },
    ])
  })

  test('Claude Code’s system turn in the middle is decoded', () => {
    expect(request.turns.map((turn) => turn.role)).toEqual(['user', 'system'])
    expect(request.turns[1]?.content).toEqual([{ type: 'text', text: 'Today is a day.', cache: { ttl: '5m' } }])
  })

  test('Claude Code’s tools, effort, and hidden thinking are decoded', () => {
    expect(request.tools.map((tool) => tool.name)).toEqual(['Read'])
    expect(request.reasoning).toEqual({ effort: 'high', visible: false })
  })

  test('fields that only the messages format has are kept', () => {
    expect(Object.keys(request.extensions.messages ?? {})).toEqual(['context_management'])
    expect(request.nativeOnly).toBeUndefined()
  })
})

describe('reasoning', () => {
  test.each<[JsonObject, unknown]>([
    [{}, undefined],
    [{ thinking: { type: 'disabled' } }, { effort: 'none' }],
    [{ thinking: { type: 'enabled', budget_tokens: 2000 } }, { budgetTokens: 2000, visible: true }],
    [
      { thinking: { type: 'enabled', budget_tokens: 2000, display: 'omitted' } },
      { budgetTokens: 2000, visible: false },
    ],
    [{ thinking: { type: 'adaptive' } }, { budgetTokens: -1, visible: true }],
    [
      { thinking: { type: 'adaptive', display: null }, output_config: { effort: 'max' } },
      { effort: 'max', visible: true },
    ],
    [{ thinking: { type: 'between_tools' } }, { budgetTokens: -1, visible: true }],
    [{ output_config: { effort: 'low' } }, { effort: 'low' }],
    [{ output_config: { effort: null } }, undefined],
  ])('reasoning is decoded from %j', (changes, expected) => {
    expect(decode(changes).reasoning).toEqual(expected as never)
  })
})

describe('tools', () => {
  const tool = { name: 'f', description: 'd', input_schema: { type: 'object' }, strict: true }

  test('tools are functions with a schema', () => {
    expect(decode({ tools: [{ ...tool, type: 'custom', cache_control: { type: 'ephemeral' } }] }).tools).toEqual([
      { name: 'f', description: 'd', parameters: { type: 'object' }, strict: true, cache: { ttl: '5m' } },
    ])
  })

  test.each<[JsonObject, unknown, boolean | undefined]>([
    [{ type: 'auto' }, { type: 'auto' }, undefined],
    [{ type: 'any', disable_parallel_tool_use: true }, { type: 'required' }, false],
    [{ type: 'tool', name: 'f', disable_parallel_tool_use: false }, { type: 'tool', name: 'f' }, true],
    [{ type: 'none' }, { type: 'none' }, undefined],
  ])('the tool choice %j is decoded', (choice, toolChoice, parallelToolCalls) => {
    const request = decode({ tools: [tool], tool_choice: choice })
    expect(request.toolChoice).toEqual(toolChoice as never)
    expect(request.parallelToolCalls).toBe(parallelToolCalls)
  })

  test('a provider’s own tools limit the request to that provider', () => {
    const request = decode({ tools: [tool, { type: 'web_search_20250305', name: 'web_search' }] })
    expect(request.tools).toHaveLength(1)
    expect(request.nativeOnly).toEqual(['tools[1] (web_search_20250305)'])
  })

  test('a tool search does not limit the request to its provider if the request has all tools', () => {
    expect(decode({ tools: [tool, { type: 'tool_search_tool_bm25_20251119', name: 's' }] }).nativeOnly).toBeUndefined()
  })
})

describe('fields that only a provider of this format supports', () => {
  test.each<[JsonObject, string[]]>([
    [{ max_tokens: 0 }, ['max_tokens 0 (warms the cache)']],
    [{ mcp_servers: [{ url: 'https://example.org' }], container: null }, ['mcp_servers']],
    [{ inference_geo: 'us' }, ['inference_geo']],
    [
      { messages: [{ role: 'assistant', content: [{ type: 'compaction', content: 's' }] }] },
      ['messages[0].content[0] (compaction)'],
    ],
  ])('the request can only go to a provider of this format: %j', (changes, expected) => {
    expect(decode(changes).nativeOnly).toEqual(expected)
  })
})

describe('output', () => {
  const schema = { type: 'object', properties: {} }

  test('an answer schema is read from its new and its older place', () => {
    const expected = { type: 'json-schema', schema } as never
    expect(decode({ output_config: { format: { type: 'json_schema', schema } } }).output).toEqual(expected)
    expect(decode({ output_format: { type: 'json_schema', schema } }).output).toEqual(expected)
    expect(decode({ output_format: null, output_config: { format: null } }).output).toEqual({ type: 'text' })
  })
})
