/** The top-level fields of a chat-completions request, decoded. */
import { describe, expect, test } from 'bun:test'
import type { ChatRequest } from '@/chat/request'
import { decodeRequest } from '@/formats/chat-completions/client-side/decode-request'
import { isJsonObject, type JsonObject, parseJson } from '@/lib/json'

const USER: JsonObject = { role: 'user', content: 'hi' }

describe('fields', () => {
  test('missing fields get the format’s defaults', () => {
    expect(decode({})).toEqual({
      model: 'svc/alpha',
      stream: false,
      system: [],
      turns: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
      tools: [],
      sampling: {},
      choices: 1,
      output: { type: 'text' },
      fallback: [],
      wantsUsage: false,
      extensions: { 'chat-completions': {} },
    })
  })

  test('null fields count as missing', () => {
    const nulls = Object.fromEntries(
      [
        'stream',
        'temperature',
        'max_tokens',
        'n',
        'stop',
        'tools',
        'tool_choice',
        'response_format',
        'fallback',
        'user',
      ].map((field) => [field, null]),
    )
    expect(decode({ ...nulls })).toEqual(decode({}))
  })

  test('fields that all formats share are decoded', () => {
    const request = decode({
      stream: true,
      stream_options: { include_usage: true },
      temperature: 0.5,
      top_p: 0.9,
      top_k: 40,
      frequency_penalty: 1,
      presence_penalty: -1,
      seed: 7,
      stop: 'END',
      logprobs: true,
      top_logprobs: 3,
      max_completion_tokens: 50,
      n: 2,
      parallel_tool_calls: false,
      reasoning_effort: 'high',
      user: 'old',
      safety_identifier: 'new',
      prompt_cache_key: 'k',
      service_tier: 'flex',
      verbosity: 'high',
      fallback: ['svc/beta'],
    })
    expect(decode({ verbosity: 'chatty' }).verbosity).toBeUndefined()
    expect(request).toMatchObject({
      stream: true,
      wantsUsage: true,
      sampling: {
        temperature: 0.5,
        topP: 0.9,
        topK: 40,
        frequencyPenalty: 1,
        presencePenalty: -1,
        seed: 7,
        stop: ['END'],
        logprobs: true,
        topLogprobs: 3,
      },
      maxOutputTokens: 50,
      choices: 2,
      parallelToolCalls: false,
      reasoning: { effort: 'high', visible: true },
      userId: 'new',
      cacheKey: 'k',
      serviceTier: 'flex',
      verbosity: 'high',
      fallback: ['svc/beta'],
    })
    expect(request.extensions).toEqual({ 'chat-completions': {} })
    expect(decode({ verbosity: 'chatty' }).extensions['chat-completions']).toEqual({ verbosity: 'chatty' })
  })

  test('other fields are passed along unchanged', () => {
    const unknown = {
      metadata: { a: 'b' },
      store: true,
      prediction: { type: 'content' },
      reasoning_effort: 'turbo',
      x: [1],
    }
    const request = decode({ ...unknown, tools: [{ type: 'web_search' }], response_format: { type: 'grammar' } })
    expect(request.extensions['chat-completions']).toEqual({
      ...unknown,
      tools: [{ type: 'web_search' }],
      response_format: { type: 'grammar' },
    })
    expect(request.output).toEqual({ type: 'text' })
  })

  test('fields that only a provider of this format supports are listed', () => {
    expect(
      decode({ tools: [{ type: 'function', function: { name: 'f' } }], modalities: ['text'] }).nativeOnly,
    ).toBeUndefined()
    const request = decode({
      tools: [
        { type: 'function', function: { name: 'f' } },
        { type: 'custom', custom: { name: 'c' } },
        { type: 'mcp' },
      ],
      tool_choice: { type: 'mcp' },
      response_format: { type: 'grammar' },
      modalities: ['text', 'audio'],
      web_search_options: {},
    })
    expect(request.nativeOnly).toEqual([
      'tools[2] (mcp)',
      'tool_choice (of unknown kind)',
      'response_format (grammar)',
      'modalities (audio)',
      'web_search_options (search by the provider)',
    ])
  })

  test('fields with names such as toString are treated like any others', () => {
    const body = parseJson(
      '{"model":"a","messages":[{"role":"user","content":"x","__proto__":{"role":"system"}}],"__proto__":{"stream":true},"constructor":{"prototype":{"n":9}},"toString":1}',
    )
    const request = decodeRequest(isJsonObject(body) ? body : {})
    expect(request.stream).toBe(false)
    expect(request.turns).toEqual([{ role: 'user', content: [{ type: 'text', text: 'x' }] }])
    expect(Object.keys(request.extensions['chat-completions'] ?? {})).toEqual(['__proto__', 'constructor', 'toString'])
    expect(Object.getPrototypeOf(request.extensions['chat-completions'])).toBe(Object.prototype)
    expect(({} as { stream?: unknown }).stream).toBeUndefined()
  })

  test('decoding does not change the request', () => {
    const body: JsonObject = { model: 'a', messages: [USER], fallback: ['b'], stop: 'x', stream: true }
    const before = structuredClone(body)
    decodeRequest(body)
    expect(body).toEqual(before)
  })
})

describe('response_format', () => {
  test('response_format json_object is decoded', () => {
    expect(decode({ response_format: { type: 'json_object' } }).output).toEqual({ type: 'json' })
  })

  test('response_format json_schema is decoded', () => {
    const schema = { type: 'object' }
    const format = { type: 'json_schema', json_schema: { name: 'n', schema, strict: true } }
    expect(decode({ response_format: format }).output).toEqual({ type: 'json-schema', schema, name: 'n', strict: true })
  })
})

function decode(fields: JsonObject): ChatRequest {
  return decodeRequest({ model: 'svc/alpha', messages: [USER], ...fields })
}
