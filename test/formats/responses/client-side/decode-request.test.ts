/** responses requests, decoded: every field, refusals, and the fields that the answer repeats. */
import { describe, expect, test } from 'bun:test'
import { GatewayError } from '@/chat/error'
import type { ChatRequest } from '@/chat/request'
import { decodeRequest, encodeCountTokens } from '@/formats/responses/client-side/decode-request'
import type { JsonObject } from '@/lib/json'

function decode(body: JsonObject = {}): ChatRequest {
  return decodeRequest({ model: 'svc/alpha', input: 'Hi', ...body })
}

function refusal(body: JsonObject): unknown {
  try {
    decode(body)
  } catch (error) {
    if (error instanceof GatewayError) return { message: error.message, ...error.options }
    throw error
  }
  throw new Error('not refused')
}

describe('a request', () => {
  test('a request with a text as input is decoded', () => {
    const { answerEcho: _, sampling, ...request } = decode()
    expect(request).toEqual({
      model: 'svc/alpha',
      stream: false,
      system: [],
      turns: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
      tools: [],
      choices: 1,
      output: { type: 'text' },
      fallback: [],
      wantsEncryptedReasoning: true,
      wantsUsage: true,
      extensions: { responses: {} },
    })
    expect(sampling).toEqual({})
  })

  test('a request with all fields that formats share is decoded', () => {
    expect(
      decode({
        stream: true,
        instructions: 'Be brief',
        max_output_tokens: 50,
        temperature: 0.5,
        top_p: 0.9,
        top_logprobs: 3,
        include: ['message.output_text.logprobs', 'reasoning.encrypted_content'],
        parallel_tool_calls: false,
        reasoning: { effort: 'high', summary: 'auto' },
        text: {
          verbosity: 'low',
          format: { type: 'json_schema', name: 'a', schema: { type: 'object' }, strict: true },
        },
        prompt_cache_key: 'k',
        user: 'old',
        safety_identifier: 'u',
        service_tier: 'flex',
        fallback: ['svc/beta'],
        svc: { sort: 'price' },
        metadata: { a: 'b' },
      }),
    ).toMatchObject({
      stream: true,
      system: [{ type: 'text', text: 'Be brief' }],
      maxOutputTokens: 50,
      sampling: { temperature: 0.5, topP: 0.9, logprobs: true, topLogprobs: 3 },
      parallelToolCalls: false,
      reasoning: { effort: 'high', visible: true },
      output: { type: 'json-schema', schema: { type: 'object' }, name: 'a', strict: true },
      verbosity: 'low',
      userId: 'u',
      cacheKey: 'k',
      serviceTier: 'flex',
      fallback: ['svc/beta'],
      preferences: { sort: 'price' },
      extensions: { responses: { metadata: { a: 'b' } } },
    })
  })

  test('null fields of a request count as missing', () => {
    const fields = [
      'instructions',
      'include',
      'stream',
      'store',
      'max_output_tokens',
      'temperature',
      'top_p',
      'reasoning',
    ]
    const more = [
      'tools',
      'tool_choice',
      'metadata',
      'previous_response_id',
      'background',
      'conversation',
      'prompt',
      'user',
    ]
    const nulls = Object.fromEntries([...fields, ...more].map((field) => [field, null]))
    const { answerEcho: echo, ...request } = decode({ ...nulls, text: {} })
    const { answerEcho: _, ...plain } = decode()
    expect({ ...request, extensions: {} }).toEqual({ ...plain, extensions: {} })
    expect(echo).toMatchObject({ instructions: null, temperature: 1, tools: [], metadata: {} })
  })

  test.each([
    [{}, undefined],
    [{ reasoning: { summary: 'auto' } }, { visible: true }],
    [{ reasoning: { effort: 'low' } }, { effort: 'low', visible: false }],
    [{ reasoning: { effort: 'none', summary: 'auto' } }, { effort: 'none' }],
    [{ reasoning: { effort: 'unheard', generate_summary: 'concise' } }, { visible: true }],
  ] as const)('the reasoning settings of %j are decoded', (body, reasoning) => {
    expect(decode(body).reasoning as unknown).toEqual(reasoning)
  })

  test('later system items may change the requested reasoning or format', () => {
    const update = {
      type: 'configuration_update',
      reasoning: { effort: 'low' },
      text: { format: { type: 'json_schema', name: 'late', schema: {} } },
    }
    const request = decode({ reasoning: { effort: 'high' }, input: [{ role: 'user', content: 'Hi' }, update] })
    expect(request).toMatchObject({
      reasoning: { effort: 'low', visible: false },
      output: { type: 'json-schema', name: 'late' },
    })
  })

  test('an output format of an unknown type decodes to text', () => {
    expect(decode({ text: { format: { type: 'regex', pattern: 'a+' } as never } }).output).toEqual({ type: 'text' })
  })

  test('fields for the vendor’s own program are not sent to the provider', () => {
    expect(decode({ client_metadata: { a: 'b' } }).unlisted).toEqual(['client_metadata'])
  })
})

describe('fields of the request repeated in the answer', () => {
  test('an answer repeats the request’s fields, with its tools as sent, and has a random id', () => {
    const tools = [{ type: 'namespace', name: 'ns', tools: [{ type: 'function', name: 'f', strict: null }] }]
    const { answerEcho: echo } = decode({ tools, tool_choice: 'required', text: { verbosity: 'low' }, top_p: 0.5 })
    expect(echo).toMatchObject({
      tools,
      tool_choice: 'required',
      text: { verbosity: 'low', format: { type: 'text' } },
      top_p: 0.5,
      reasoning: { effort: null, summary: null },
      store: false,
      previous_response_id: null,
    })
    expect(echo?.id).toMatch(/^resp_[0-9A-Za-z]{22}$/)
    expect(decode().answerEcho?.id).not.toBe(decode().answerEcho?.id as string)
  })
})

describe('a request is refused', () => {
  test.each([
    [{ input: undefined }, 'input must be a non-empty string or array of items'],
    [{ input: [] }, 'input must be a non-empty string or array of items'],
    [{ model: '' }, 'model must not be empty'],
    [{ temperature: 3 }, 'temperature must be at most 2'],
    [{ max_output_tokens: 0 }, 'max_output_tokens must be at least 1'],
    [{ stream: 'yes' }, 'stream must be true or false'],
    [{ metadata: { a: 1 } }, 'metadata.a must be a string'],
    [{ input: [{ role: 'user' }] }, 'input[0].content is required'],
    [{ input: [{ role: 'nobody', content: '' }] }, 'input[0].role must be one of user, assistant, system, developer'],
    [{ input: [{ text: 'Hi' }] }, 'input[0].type is required'],
    [{ input: [{ type: 'function_call', name: 'f' }] }, 'input[0].call_id is required'],
    [{ input: [{ role: 'user', content: [{ type: 'input_text' }] }] }, 'input[0].content[0].text is required'],
    [{ input: [{ type: 'function_call_output', output: 'x' }] }, 'input[0].call_id is required'],
    [{ tools: [{ type: 'function' }] }, 'tools[0].name must be a non-empty string'],
    [{ text: { format: { type: 'json_schema' } } }, 'text.format.schema is required'],
  ])('request %# is refused: %j', (body, message) => {
    expect(refusal(body as JsonObject)).toMatchObject({ message, param: expect.any(String) })
  })

  test.each([
    [{ background: true }, 'background'],
    [{ conversation: 'conv_1' }, 'conversation'],
    [{ prompt: { id: 'pmpt_1' } }, 'prompt'],
    [{ input: [{ type: 'compaction_trigger' }] }, 'input[0].type'],
  ])('a request with the unsupported field %j is refused', (body, param) => {
    expect(refusal(body)).toMatchObject({ param })
  })

  test('a request that continues a response unknown to the gateway is refused', () => {
    expect(refusal({ previous_response_id: 'resp_1' })).toMatchObject({ code: 'previous_response_not_found' })
    const named = { input: [{ type: 'item_reference', id: 'msg_1' }] }
    expect(refusal(named)).toMatchObject({ message: "Item with id 'msg_1' not found.", param: 'input[0].id' })
    const thought = [
      { type: 'item_reference', id: 'rs_1' },
      { role: 'user', content: 'Hi' },
    ]
    expect(decode({ input: thought }).turns).toHaveLength(1)
  })

  test('a request whose calls have too many arguments to parse is refused', () => {
    const call = { type: 'function_call', call_id: 'a', name: 'f', arguments: 'x'.repeat(3 * 1024 * 1024) }
    expect(refusal({ input: [call, { ...call, call_id: 'b' }] })).toMatchObject({ param: 'input[1].arguments' })
    const deep = { ...call, arguments: '['.repeat(5_000) }
    expect(refusal({ input: [deep] })).toMatchObject({ param: 'input[0].arguments' })
  })
})

test('counting tokens accepts the same request as an answer does', () => {
  const body = { model: 'svc/alpha', input: 'Hi', instructions: 'Be brief' }
  expect(decodeRequest(body)).toMatchObject({ system: [{ text: 'Be brief' }] })
  expect(encodeCountTokens(7)).toEqual({ object: 'response.input_tokens', input_tokens: 7 })
})
