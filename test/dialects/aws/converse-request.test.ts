/** Requests to Converse equal those of AWS’ own client. */
import { describe, expect, test } from 'bun:test'
import type { ConverseCommandInput } from '@aws-sdk/client-bedrock-runtime'
import { arriving, callTarget, targetOfEntry } from '@test/dialects/provider-entry'
import { NESTED_SAMPLES } from '@test/formats/nested-samples'
import { fc } from '@test/support/property'
import { GatewayError } from '@/chat/error'
import { assert } from '@/lib/assert'
import type { JsonObject, JsonValue } from '@/lib/json'
import { sentByAws } from './aws-libraries'

const AUTH = { type: 'aws', region: 'eu-west-1', accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret' }
const CLAUDE = 'eu.anthropic.claude-x-v1:0'
const dialectOf = (more: JsonObject = {}) =>
  targetOfEntry({ format: 'messages', dialect: 'bedrock-converse', baseUrl: 'http://127.0.0.1:1', auth: AUTH, ...more })
    .provider.dialect

function sealed(body: JsonObject, headers: Record<string, string> = {}, more: JsonObject = {}) {
  const enveloped = dialectOf(more).envelope?.({ model: CLAUDE, max_tokens: 100, ...body }, headers)
  assert(enveloped, 'the dialect has an envelope')
  return enveloped
}

/** Why a body is refused; undefined where it is not. */
function refusal(body: JsonObject): GatewayError | undefined {
  try {
    sealed(body)
  } catch (error) {
    if (error instanceof GatewayError) return error
    throw error
  }
  return undefined
}

/** What AWS’ client sends of `input` beside the limit of output. */
async function theirs(input: Omit<ConverseCommandInput, 'modelId'>) {
  const { body } = await sentByAws({ modelId: CLAUDE, inferenceConfig: { maxTokens: 100 }, ...input })
  return body
}

const BYTES = new Uint8Array([137, 80, 78, 71])
const B64 = Buffer.from(BYTES).toString('base64')
const TOOL = { name: 'weather', description: 'Says it', input_schema: { type: 'object', properties: {} } }
const SPEC = { name: 'weather', description: 'Says it', inputSchema: { json: { type: 'object', properties: {} } } }
const FOUND = {
  ...{ type: 'search_result', source: 'https://example.com', title: 'Found' },
  ...{ content: [{ type: 'text', text: 'Sunny' }], citations: { enabled: true } },
}
const FOUND_THERE = {
  searchResult: {
    ...{ source: 'https://example.com', title: 'Found' },
    ...{ content: [{ text: 'Sunny' }], citations: { enabled: true } },
  },
}
const HI = [{ role: 'user', content: 'Hi' }]
const SAID_HI = [{ role: 'user' as const, content: [{ text: 'Hi' }] }]

describe('E16: a request to Converse equals the one of AWS’ own client', () => {
  const cases: [string, JsonObject, Omit<ConverseCommandInput, 'modelId'>][] = [
    [
      'text, system, sampling and stop sequences',
      { messages: HI, system: 'Be brief', temperature: 0.5, top_p: 0.9, stop_sequences: ['END'] },
      {
        messages: SAID_HI,
        system: [{ text: 'Be brief' }],
        inferenceConfig: { maxTokens: 100, temperature: 0.5, topP: 0.9, stopSequences: ['END'] },
      },
    ],
    [
      'images and documents, each of which has a name of its own',
      {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'Look' },
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: B64 } },
              {
                type: 'document',
                title: 'A_b.pdf',
                source: { type: 'base64', media_type: 'application/pdf', data: B64 },
              },
              {
                type: 'document',
                source: { type: 'text', media_type: 'text/plain', data: 'Grüße' },
                citations: { enabled: true },
              },
            ],
          },
        ],
      },
      {
        messages: [
          {
            role: 'user',
            content: [
              { text: 'Look' },
              { image: { format: 'png', source: { bytes: BYTES } } },
              { document: { format: 'pdf', name: 'A b pdf 1', source: { bytes: BYTES } } },
              {
                document: {
                  ...{ format: 'txt', name: '2', source: { bytes: new TextEncoder().encode('Grüße') } },
                  citations: { enabled: true },
                },
              },
            ],
          },
        ],
      },
    ],
    [
      'tools, a call, its result with an error, and thoughts with their signature',
      {
        tools: [TOOL],
        tool_choice: { type: 'tool', name: 'weather' },
        messages: [
          ...HI,
          {
            role: 'assistant',
            content: [
              { type: 'thinking', thinking: 'Hm', signature: 'sig' },
              { type: 'redacted_thinking', data: B64 },
              { type: 'tool_use', id: 't1', name: 'weather', input: { city: 'Bern' } },
              { type: 'tool_use', id: 't2', name: 'weather', input: {} },
            ],
          },
          {
            role: 'user',
            content: [
              { type: 'tool_result', tool_use_id: 't1', content: 'sunny' },
              { type: 'tool_result', tool_use_id: 't2', is_error: true, content: [{ type: 'text', text: 'no' }] },
            ],
          },
          { role: 'user', content: 'And?' },
        ],
      },
      {
        toolConfig: { tools: [{ toolSpec: SPEC }], toolChoice: { tool: { name: 'weather' } } },
        messages: [
          ...SAID_HI,
          {
            role: 'assistant',
            content: [
              { reasoningContent: { reasoningText: { text: 'Hm', signature: 'sig' } } },
              { reasoningContent: { redactedContent: BYTES } },
              { toolUse: { toolUseId: 't1', name: 'weather', input: { city: 'Bern' } } },
              { toolUse: { toolUseId: 't2', name: 'weather', input: {} } },
            ],
          },
          {
            role: 'user',
            content: [
              { toolResult: { toolUseId: 't1', content: [{ text: 'sunny' }] } },
              { toolResult: { toolUseId: 't2', content: [{ text: 'no' }], status: 'error' } },
              { text: 'And?' },
            ],
          },
        ],
      },
    ],
    [
      'cache points after what is cached',
      {
        system: [{ type: 'text', text: 'Long', cache_control: { type: 'ephemeral', ttl: '1h' } }],
        tools: [{ ...TOOL, cache_control: { type: 'ephemeral' } }],
        tool_choice: { type: 'any' },
        messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } }] }],
      },
      {
        system: [{ text: 'Long' }, { cachePoint: { type: 'default', ttl: '1h' } }],
        toolConfig: { tools: [{ toolSpec: SPEC }, { cachePoint: { type: 'default' } }], toolChoice: { any: {} } },
        messages: [{ role: 'user', content: [{ text: 'Hi' }, { cachePoint: { type: 'default' } }] }],
      },
    ],
    [
      'a schema, thinking and top_k in Claude’s own words',
      {
        messages: HI,
        top_k: 5,
        thinking: { type: 'adaptive' },
        output_config: { effort: 'low', format: { type: 'json_schema', schema: { type: 'object' } } },
      },
      {
        messages: SAID_HI,
        outputConfig: {
          textFormat: { type: 'json_schema', structure: { jsonSchema: { schema: '{"type":"object"}' } } },
        },
        additionalModelRequestFields: { top_k: 5, thinking: { type: 'adaptive' }, output_config: { effort: 'low' } },
      },
    ],
    [
      'search results, in a turn and in a result, and a file of texts',
      {
        messages: [
          {
            role: 'user',
            content: [FOUND, { type: 'document', source: { type: 'content', content: [{ type: 'text', text: 'A' }] } }],
          },
          { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'weather', input: {} }] },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: [FOUND] }] },
        ],
        tools: [TOOL],
      },
      {
        messages: [
          {
            role: 'user',
            content: [FOUND_THERE, { document: { format: 'txt', name: '1', source: { content: [{ text: 'A' }] } } }],
          },
          { role: 'assistant', content: [{ toolUse: { toolUseId: 't', name: 'weather', input: {} } }] },
          { role: 'user', content: [{ toolResult: { toolUseId: 't', content: [FOUND_THERE] } }] },
        ],
        toolConfig: { tools: [{ toolSpec: SPEC }] },
      },
    ],
  ]
  test.each(cases)('E16: the request equals AWS’ own client’s: %s', async (_, ours, input) => {
    const { body, leftOut } = sealed(ours)
    expect(body).toEqual(await theirs(input))
    expect(leftOut).toEqual([])
  })

  test.each([
    ['Nova', 'eu.amazon.nova-2-lite-v1:0', { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'medium' } }],
    ['OpenAI', 'openai.gpt-oss-120b-1:0', { reasoning_effort: 'medium' }],
  ])('E16: thinking is sent in the shape of %s', (_, model, fields) => {
    const { body, leftOut } = sealed({
      model,
      messages: HI,
      thinking: { type: 'enabled', budget_tokens: 8000 },
      top_k: 3,
    })
    expect(body.additionalModelRequestFields).toEqual(fields)
    expect(leftOut).toEqual(['top_k'])
  })

  test('E16: URL, query and headers equal those of AWS’ client, with a signature or a Bedrock key', async () => {
    for (const model of [CLAUDE, 'arn:aws:bedrock:eu-west-1:1:application-inference-profile/a1']) {
      for (const stream of [false, true]) {
        const ours = await arriving((url) =>
          callTarget(
            targetOfEntry({ format: 'messages', dialect: 'bedrock-converse', baseUrl: url, auth: AUTH }, model),
            { stream },
          ),
        )
        const sent = await sentByAws({ modelId: model, messages: SAID_HI }, stream)
        expect(ours[0]?.path).toBe(sent.path)
        expect(ours[0]?.headers.get('content-type')).toBe(sent.headers['content-type'] ?? '')
        const scope = /Credential=[^/]+\/\d+(\/[^,]+),/
        expect(scope.exec(ours[0]?.headers.get('authorization') ?? '')?.[1]).toBe(
          scope.exec(sent.headers.authorization ?? '')?.[1],
        )
      }
    }
    const entry = { format: 'messages', dialect: 'bedrock-converse', keys: ['bedrock-api-key-1'] }
    const [ours] = await arriving((url) => callTarget(targetOfEntry({ ...entry, baseUrl: url })))
    const sent = await sentByAws({ modelId: 'm', messages: SAID_HI }, false, 'bedrock-api-key-1')
    expect(ours?.headers.get('authorization')).toBe(sent.headers.authorization ?? '')
    expect(ours?.headers.has('x-amz-date')).toBe(false)
  })
})

describe('fields that Converse does not support', () => {
  test('a field without an equivalent is omitted and named; the tool choice "none" is omitted only if the history has tools', () => {
    const { body, leftOut } = sealed({
      messages: HI,
      tools: [TOOL],
      tool_choice: { type: 'none' },
      metadata: { user_id: 'u' },
    })
    expect(body).not.toHaveProperty('toolConfig')
    expect(leftOut).toEqual(['metadata'])
    const call = { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'weather', input: {} }] }
    const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't' }] }
    const second = sealed({ messages: [...HI, call, result], tools: [TOOL], tool_choice: { type: 'none' } })
    expect(second.leftOut).toEqual(['tool_choice'])
    expect(second.body.toolConfig).toEqual({ tools: [{ toolSpec: SPEC }] })
    expect(sealed({ messages: [...HI, call, result] }).body.toolConfig).toEqual({
      tools: [{ toolSpec: { name: 'weather', inputSchema: { json: { type: 'object' } } } }],
    })
  })

  test.each(['bash_20250124', 'text_editor_20250728', 'memory_20250818', 'computer_20250124', 'web_search_20250305'])(
    'a request with the vendor’s tool %s is refused',
    (type) => {
      const refused = refusal({ messages: HI, tools: [TOOL, { type, name: 'tool' }] })
      expect([refused?.status, refused?.options.param]).toEqual([400, 'tools[1]'])
      expect(refused?.message).toContain(type)
    },
  )

  test('a block that Converse does not support is refused, in a turn and in a tool result', () => {
    const block = { type: 'container_upload', file_id: 'f' }
    const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: [block] }] }
    expect(refusal({ messages: [{ role: 'user', content: [block] }] })?.options.param).toBe('messages[0].content[0]')
    expect(refusal({ messages: [...HI, result] })?.options.param).toBe('messages[1].content[0].content[0]')
  })

  test('blocks of a tool that a provider ran are omitted and named', () => {
    const trace = { type: 'server_tool_use', id: 's', name: 'web_search', input: {} }
    const { body, leftOut } = sealed({ messages: [...HI, { role: 'assistant', content: [trace] }, ...HI] })
    expect(body.messages).toEqual([{ role: 'user', content: [{ text: 'Hi' }, { text: 'Hi' }] }])
    expect(leftOut).toEqual(['messages.server_tool_use'])
  })

  test('every turn and tool result that is sent has content, and no blank text', () => {
    const text = fc.constantFrom('', ' ', '\n\t', 'words').map((words): JsonObject => ({ type: 'text', text: words }))
    const hint = { type: 'ephemeral' }
    const block = fc.oneof(
      text,
      text.map((marked) => ({ ...marked, cache_control: hint })),
      fc.array(text).map((content) => ({ type: 'search_result', source: 's', title: 't', content })),
      fc.array(text).map((content) => ({ type: 'document', source: { type: 'content', content } })),
      text.map(({ text: data }) => ({ type: 'document', source: { type: 'text', media_type: 'text/plain', data } })),
      fc.array(text).map((content) => ({ type: 'tool_result', tool_use_id: 't', content })),
      fc.constantFrom('', ' ').map((content) => ({ type: 'tool_result', tool_use_id: 't', content })),
      fc.constant({ type: 'web_search_tool_result', tool_use_id: 's', content: [] }),
    )
    const message = fc.record({
      role: fc.constantFrom('user', 'assistant'),
      content: fc.oneof(fc.array(block), fc.constantFrom('', ' ', 'words')),
    })
    const system = fc.oneof(fc.array(text), fc.constantFrom('', ' ', 'words'))
    fc.assert(
      fc.property(fc.array(message), system, (messages, instructions) => {
        let body: JsonObject
        try {
          body = sealed({ messages: [...HI, ...messages] as JsonObject[], system: instructions as JsonValue }).body
        } catch (error) {
          // What a user alone may not say is refused as a whole.
          expect(error).toBeInstanceOf(GatewayError)
          return
        }
        const faults: unknown[] = []
        JSON.stringify(body, (key, value) => {
          if (key === 'text' && (typeof value !== 'string' || value.trim() === '')) faults.push(value)
          if (key === 'bytes' && value === '') faults.push(value)
          if (key === 'content' && Array.isArray(value) && value.length === 0) faults.push(value)
          return value
        })
        expect(faults).toEqual([])
      }),
    )
  })

  test('a field that the catalogue lists in passFields is passed on to Converse', () => {
    const guard = { guardrailIdentifier: 'g', guardrailVersion: '1' }
    const { body } = sealed({ messages: HI, guardrailConfig: guard }, {}, { passFields: ['guardrailConfig'] })
    expect(body.guardrailConfig).toEqual(guard)
  })

  test('an image that Converse cannot carry is refused', () => {
    const url = { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }
    const tiff = { type: 'image', source: { type: 'base64', media_type: 'image/tiff', data: B64 } }
    for (const block of [url, tiff]) {
      expect(() => sealed({ messages: [{ role: 'user', content: [block] }] })).toThrow(GatewayError)
    }
  })

  test('an inference profile counts as Claude if the catalogue’s family says so', () => {
    const model = 'arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/a1b2c3'
    const body = { ...{ model, max_tokens: 5000, messages: HI }, thinking: { type: 'enabled', budget_tokens: 2000 } }
    const dialect = dialectOf()
    const unknown = dialect.envelope?.(body, {})
    expect([unknown?.body.additionalModelRequestFields, unknown?.leftOut]).toEqual([undefined, ['thinking']])
    const known = dialect.envelope?.(body, { 'anthropic-beta': 'own' }, 'anthropic.claude')
    expect(known?.body.additionalModelRequestFields).toEqual({ thinking: body.thinking, anthropic_beta: ['own'] })
    expect(known?.leftOut).toEqual([])
  })

  test('betas are put into the body for Claude only', () => {
    const headers = { 'anthropic-beta': 'context-1m-2025-08-07, interleaved-thinking-2025-05-14' }
    const { body, leftOut } = sealed({ messages: HI }, headers)
    expect(body.additionalModelRequestFields).toEqual({
      anthropic_beta: ['context-1m-2025-08-07', 'interleaved-thinking-2025-05-14'],
    })
    expect(leftOut).toEqual([])
  })
})

test('E25: reasoning signed by another account is removed if Bedrock refuses it', () => {
  const thought = { type: 'thinking', thinking: 'Hm', signature: 'foreign' }
  const history = [
    ...HI,
    { role: 'assistant', content: [thought] },
    { role: 'assistant', content: [thought, { type: 'text', text: 'Well' }] },
  ]
  const { body } = sealed({
    messages: [...history, ...HI],
    thinking: { type: 'enabled', budget_tokens: 2000 },
    top_k: 5,
  })
  const { withoutProofs } = dialectOf()
  expect(withoutProofs?.(body)).toEqual({
    ...body,
    messages: [...SAID_HI, { role: 'assistant', content: [{ text: 'Well' }] }, ...SAID_HI],
    additionalModelRequestFields: { top_k: 5 },
  })
  expect(withoutProofs?.(sealed({ messages: HI }).body)).toBeUndefined()
})

describe('a service tier', () => {
  test.each([
    ['flex', { serviceTier: { type: 'flex' } }],
    ['priority', { serviceTier: { type: 'priority' } }],
    ['optimized', { performanceConfig: { latency: 'optimized' as const } }],
  ] as const)('the service tier %s is sent as AWS’ own client sends it', async (tier, fields) => {
    const { body, leftOut } = sealed({ messages: HI, service_tier: tier })
    expect(body).toEqual(await theirs({ messages: SAID_HI, ...fields }))
    expect(leftOut).toEqual([])
  })

  test.each(['auto', 'standard_only'])('the service tier %s is omitted and named', (tier) => {
    const { body, leftOut } = sealed({ messages: HI, service_tier: tier })
    expect([body.serviceTier, body.performanceConfig, leftOut]).toEqual([undefined, undefined, ['service_tier']])
  })
})

describe('nested fields of messages', () => {
  const bodies = Object.entries(NESTED_SAMPLES.messages).flatMap(([field, sample]) =>
    'body' in sample ? [[field, sample.body as JsonObject, sample.without as JsonObject] as const] : [],
  )

  test('the test has samples of nested fields', () => expect(bodies.length).toBeGreaterThan(10))

  test.each(bodies)('the nested field %s is sent, named as omitted, or refused', (field, body, without) => {
    const refused = refusal({ messages: HI, ...body })
    if (refused) return expect(refused.options.param).toMatch(/^tools/)
    const [asked, plain] = [sealed({ messages: HI, ...body }), sealed({ messages: HI, ...without })]
    const isSaid = !Bun.deepEquals(asked.body, plain.body)
    expect([isSaid, asked.leftOut.includes(field)]).toEqual([isSaid, !isSaid])
  })

  test('a tool that only the model’s code may call is refused', () => {
    const tools = [{ ...TOOL, allowed_callers: ['code_execution_20260120'] }]
    expect(refusal({ messages: HI, tools })?.options.param).toBe('tools.allowed_callers')
  })

  test('betas are named as omitted if the model has no field for them', () => {
    const nova = dialectOf().envelope?.({ model: 'amazon.nova-pro-v1:0', messages: HI }, { 'anthropic-beta': 'a-2026' })
    expect(nova?.leftOut).toEqual(['anthropic-beta'])
  })
})
