/** Requests of other formats, encoded for messages providers: changed fields, omissions with a warning, and refusals. */
import { describe, expect, test } from 'bun:test'
import { chatRequest, complaint, traits } from '@test/formats/messages/support'
import type { ChatRequest, Reasoning, ToolChoice } from '@/chat/request'
import { messages } from '@/formats/messages/index'

const encode = (changes: Partial<ChatRequest> = {}, ...quirks: string[]) =>
  messages.encodeRequest(chatRequest(changes), traits(...quirks))
const features = (changes: Partial<ChatRequest>, ...quirks: string[]) =>
  encode(changes, ...quirks).warnings.map((warning) => warning.feature)

const tool = { name: 'f', parameters: { type: 'object', properties: { a: { type: 'string' } } } }
const other = { name: 'g' }

describe('a simple request', () => {
  test('a simple request has the upstream model and the output limit that the format requires', () => {
    expect(encode()).toEqual({
      body: { model: 'upstream-model', max_tokens: 8192, messages: [{ role: 'user', content: 'Hi' }] },
      warnings: [],
    })
  })

  test('the output limit is at most the model’s', () => {
    expect(encode({ maxOutputTokens: 100 }).body.max_tokens).toBe(100)
    expect(encode({ maxOutputTokens: 100_000 }).body.max_tokens).toBe(8192)
  })

  test('a request for a stream is encoded, with the user id', () => {
    expect(encode({ stream: true, userId: 'u' }).body).toMatchObject({ stream: true, metadata: { user_id: 'u' } })
  })

  test.each([
    ['auto', undefined],
    ['default', 'standard_only'],
    ['standard_only', 'standard_only'],
    ['flex', undefined],
  ])('service tier %s is encoded', (tier, expected) => {
    expect(encode({ serviceTier: tier }).body.service_tier).toBe(expected as never)
  })
})

describe('fields that would change the meaning are refused', () => {
  test.each<[Partial<ChatRequest>, string | undefined]>([
    [{ choices: 2 }, 'n'],
    [{ nativeOnly: ['tools[1] (web_search_20250305)'] }, 'tools[1]'],
    [{ toolChoice: { type: 'required' } }, 'tool_choice'],
    [{ tools: [tool], toolChoice: { type: 'tool', name: 'x' } }, 'tool_choice'],
    [{ turns: [{ role: 'user', content: [{ type: 'audio', mediaType: 'audio/wav', data: '' }] }] }, undefined],
  ])('a field that would change the meaning is refused: %j', (changes, param) => {
    expect(complaint(() => encode(changes)).param).toBe(param)
  })
})

describe('the system prompt', () => {
  test('the system prompt is one text without cache marks', () => {
    const system: ChatRequest['system'] = [
      { type: 'text', text: 'A' },
      { type: 'text', text: '' },
      { type: 'text', text: 'B' },
    ]
    expect(encode({ system }).body.system).toBe('A\n\nB')
  })

  test('the system prompt keeps its cache marks', () => {
    const system: ChatRequest['system'] = [
      { type: 'text', text: 'A', cache: { ttl: '1h' } },
      { type: 'text', text: 'B', cache: { ttl: '5m' } },
    ]
    expect(encode({ system }).body.system).toEqual([
      { type: 'text', text: 'A', cache_control: { type: 'ephemeral', ttl: '1h' } },
      { type: 'text', text: 'B', cache_control: { type: 'ephemeral' } },
    ])
  })

  test('if a request has more than four cache marks, the earliest are dropped', () => {
    const cache = { ttl: '5m' } as const
    const { body, warnings } = encode({
      system: [{ type: 'text', text: 'A', cache }],
      tools: [{ ...tool, cache }],
      turns: [{ role: 'user', content: ['a', 'b', 'c', 'd'].map((text) => ({ type: 'text', text, cache })) }],
    })
    expect(JSON.stringify(body).split('cache_control')).toHaveLength(5)
    expect(body.system).toBe('A')
    expect(warnings.map((warning) => warning.feature)).toEqual(['cache_control'])
  })
})

describe('sampling', () => {
  test('sampling is clamped', () => {
    const { body, warnings } = encode({ sampling: { temperature: 1.7, topP: 0.5, topK: 3 } })
    expect(body).toMatchObject({ temperature: 1, top_p: 0.5, top_k: 3 })
    expect(warnings).toEqual([{ feature: 'temperature', detail: 'clamped to 1' }])
  })

  test('sampling is dropped if the model has none', () => {
    const { body, warnings } = encode({ sampling: { temperature: 0.7, topP: 0.5, topK: 3 } }, 'no-sampling')
    expect(body).not.toHaveProperty('temperature')
    expect(body).not.toHaveProperty('top_p')
    expect(body).not.toHaveProperty('top_k')
    expect(warnings.map((warning) => warning.feature)).toEqual(['temperature', 'topK', 'topP'])
  })

  test('only one sampling value is sent if the model accepts only one', () => {
    const { body } = encode({ sampling: { temperature: 0.7, topP: 0.5 } }, 'temperature-or-top-p')
    expect(body.temperature).toBe(0.7)
    expect(body).not.toHaveProperty('top_p')
  })

  test('sampling is dropped if thinking is on', () => {
    const { body } = encode({ sampling: { temperature: 0.7, topP: 0.97, topK: 3 }, reasoning: { budgetTokens: 2000 } })
    expect(body).toMatchObject({ thinking: { type: 'enabled', budget_tokens: 2000 }, top_p: 0.97 })
    expect(body).not.toHaveProperty('temperature')
    expect(body).not.toHaveProperty('top_k')
  })

  test('omitted sampling fields are named', () => {
    const sampling = { frequencyPenalty: 1, presencePenalty: 1, seed: 7, logprobs: true, topLogprobs: 2 }
    expect(features({ sampling })).toEqual(['frequencyPenalty', 'presencePenalty', 'seed'])
    expect(features({ sampling: { logprobs: false } })).toEqual([])
  })

  test('stop sequences of white space are dropped', () => {
    expect(encode({ sampling: { stop: ['\n', 'END', ' '] } }).body.stop_sequences).toEqual(['END'])
    expect(encode({ sampling: { stop: ['\n'] } }).body).not.toHaveProperty('stop_sequences')
  })
})

describe('tools', () => {
  test('tools always have an object schema', () => {
    expect(encode({ tools: [{ ...tool, description: 'd', strict: true }, other] }).body.tools).toEqual([
      { name: 'f', description: 'd', input_schema: tool.parameters, strict: true },
      { name: 'g', input_schema: { type: 'object', properties: {} } },
    ])
    expect(encode({ tools: [{ ...tool, strict: true }] }, 'no-strict-tools').body.tools).toEqual([
      { name: 'f', input_schema: tool.parameters },
    ])
  })

  test.each<[ToolChoice | undefined, boolean | undefined, unknown]>([
    [undefined, undefined, undefined],
    [undefined, true, undefined],
    [undefined, false, { type: 'auto', disable_parallel_tool_use: true }],
    [{ type: 'auto' }, undefined, { type: 'auto' }],
    [{ type: 'required' }, false, { type: 'any', disable_parallel_tool_use: true }],
    [{ type: 'tool', name: 'f' }, undefined, { type: 'tool', name: 'f' }],
    [{ type: 'none' }, false, { type: 'none' }],
    [{ type: 'required', names: ['g'] }, undefined, { type: 'tool', name: 'g' }],
  ])('tool choice %j, parallel %j, is encoded', (toolChoice, parallelToolCalls, expected) => {
    expect(encode({ tools: [tool, other], toolChoice, parallelToolCalls }).body.tool_choice).toEqual(expected as never)
  })

  test('a choice among some tools shortens the tool list', () => {
    const { body, warnings } = encode({ tools: [tool, other], toolChoice: { type: 'auto', names: ['g'] } })
    expect(body.tools).toEqual([{ name: 'g', input_schema: { type: 'object', properties: {} } }])
    expect(warnings.map((warning) => warning.feature)).toEqual(['tool_choice'])
  })

  test('without tools there is no tool choice', () => {
    expect(encode({ toolChoice: { type: 'auto' }, parallelToolCalls: false }).body).not.toHaveProperty('tool_choice')
  })
})

describe('reasoning', () => {
  test.each<[Reasoning, unknown, unknown]>([
    [{ effort: 'none' }, { type: 'disabled' }, undefined],
    [{ budgetTokens: 0 }, { type: 'disabled' }, undefined],
    [{ effort: 'minimal' }, { type: 'enabled', budget_tokens: 1024 }, undefined],
    [{ effort: 'high' }, { type: 'enabled', budget_tokens: 6553 }, undefined],
    [{ budgetTokens: -1 }, { type: 'enabled', budget_tokens: 6553 }, undefined],
    [{ budgetTokens: 10 }, { type: 'enabled', budget_tokens: 1024 }, undefined],
    [{ budgetTokens: 50_000 }, { type: 'enabled', budget_tokens: 8191 }, undefined],
  ])('reasoning %j is sent as a budget', (reasoning, thinking, config) => {
    const { body } = encode({ reasoning })
    expect(body.thinking).toEqual(thinking as never)
    expect(body.output_config).toEqual(config as never)
  })

  test.each<[Reasoning, unknown, unknown]>([
    [{ effort: 'none' }, { type: 'disabled' }, undefined],
    [{ effort: 'minimal' }, { type: 'adaptive' }, { effort: 'low' }],
    [{ effort: 'max', visible: true }, { type: 'adaptive', display: 'summarized' }, { effort: 'max' }],
    [{ budgetTokens: -1, visible: false }, { type: 'adaptive', display: 'omitted' }, undefined],
    [{ budgetTokens: 5000 }, { type: 'adaptive' }, { effort: 'medium' }],
    [{ budgetTokens: 20_000 }, { type: 'adaptive' }, { effort: 'high' }],
    [{ budgetTokens: 60_000 }, { type: 'adaptive' }, { effort: 'max' }],
  ])('reasoning %j is sent as an effort', (reasoning, thinking, config) => {
    const { body } = encode({ reasoning }, 'adaptive-thinking')
    expect(body.thinking).toEqual(thinking as never)
    expect(body.output_config).toEqual(config as never)
  })

  const loop: ChatRequest['turns'] = [
    { role: 'user', content: [{ type: 'text', text: 'go' }] },
    { role: 'assistant', content: [{ type: 'tool-call', id: 't', name: 'f', argumentsText: '' }] },
    { role: 'user', content: [{ type: 'tool-result', callId: 't', content: [], isError: false }] },
  ]

  test.each<[string, Partial<ChatRequest>, string[]]>([
    ['a model without thinking', {}, ['no-thinking']],
    ['a forced tool call', { tools: [tool], toolChoice: { type: 'required' } }, []],
    ['too small an output limit', { maxOutputTokens: 1000 }, []],
    ['a tool loop without thoughts', { turns: loop }, []],
    [
      'an assistant prefill',
      { turns: [...loop.slice(0, 1), { role: 'assistant', content: [{ type: 'text', text: 'So' }] }] },
      [],
    ],
  ])('thinking is omitted together with %s', (_, changes, quirks) => {
    const { body, warnings } = encode({ ...changes, reasoning: { effort: 'high' } }, ...quirks)
    expect(body).not.toHaveProperty('thinking')
    expect(warnings.map((warning) => warning.feature)).toEqual(['reasoning'])
  })

  test('thinking stays on in a tool loop that began with it, and in any loop at an adaptive model', () => {
    const signature = { format: 'messages', value: 'Eq=' } as const
    const [start, call, result] = loop
    const thought = { ...call, content: [{ type: 'reasoning', text: 'hm', signature }, ...(call?.content ?? [])] }
    const turns = [start, thought, result] as ChatRequest['turns']
    expect(encode({ turns, reasoning: { effort: 'low' } }).body.thinking).toMatchObject({ type: 'enabled' })
    expect(encode({ turns: loop, reasoning: { effort: 'low' } }, 'adaptive-thinking').body.thinking).toEqual({
      type: 'adaptive',
    })
  })
})

describe('the format of the answer', () => {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {
      age: { type: 'integer', minimum: 0, description: 'Years' },
      kind: { oneOf: [{ const: 'a' }, { type: 'object', properties: {} }] },
      tags: { type: 'array', minItems: 1, maxItems: 3, items: { type: 'string', format: 'regex', minLength: 2 } },
    },
    required: ['age'],
  }

  test('an answer schema is rewritten so that the API accepts it', () => {
    const { body, warnings } = encode({ output: { type: 'json-schema', schema } })
    expect(body.output_config).toEqual({
      format: {
        type: 'json_schema',
        schema: {
          type: 'object',
          properties: {
            age: { type: 'integer', description: 'Years\n\n{minimum: 0}' },
            kind: { anyOf: [{ const: 'a' }, { type: 'object', properties: {}, additionalProperties: false }] },
            tags: {
              type: 'array',
              minItems: 1,
              items: { type: 'string', description: '{format: "regex", minLength: 2}' },
              description: '{maxItems: 3}',
            },
          },
          required: ['age'],
          additionalProperties: false,
        },
      },
    })
    expect(warnings).toEqual([])
  })

  test('a property whose name equals a schema keyword is kept', () => {
    const named = { type: 'object', properties: { minimum: { type: 'integer' }, $ref: { type: 'string' } } }
    const { body } = encode({ output: { type: 'json-schema', schema: named } })
    expect(body.output_config).toMatchObject({ format: { schema: named } })
  })

  test('if the model has no schema field, the answer format is requested in the prompt’s text', () => {
    const shaped = encode({ output: { type: 'json-schema', schema } }, 'no-output-format')
    expect(shaped.body).not.toHaveProperty('output_config')
    expect(String(shaped.body.system)).toContain(JSON.stringify(schema))
    const free = encode({ output: { type: 'json' }, system: [{ type: 'text', text: 'Be kind.' }] })
    expect(String(free.body.system)).toStartWith('Be kind.\n\n')
    expect(String(free.body.system)).toContain('JSON')
    expect(free.warnings.map((warning) => warning.feature)).toEqual(['output'])
  })

  test('an answer schema and an effort are sent together', () => {
    const { body } = encode(
      { output: { type: 'json-schema', schema: {} }, reasoning: { effort: 'low' } },
      'adaptive-thinking',
    )
    expect(body.output_config).toMatchObject({ effort: 'low', format: { type: 'json_schema' } })
  })
})
