/**
 * Numbers keep their digits if they are only relayed, for every pair of formats and both directions: schemas,
 * arguments, results and unknown fields, in JSON and streams.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { modelAt, startTrio } from '@test/clients/trio'
import type { Customer, TestGateway } from '@test/support/gateway'
import { valueText } from '@test/support/json-texts'
import { fc } from '@test/support/property'
import { FORMAT_NAMES, type FormatName } from '@/chat/format-name'
import { type JsonValue, parseJson } from '@/lib/json'

const RUNS = 5
const MODES = ['json', 'stream', 'folded'] as const
type Mode = (typeof MODES)[number]

/** Texts of JSON objects, by the place they are put in. */
type Texts = { schema: string; output: string; args: string; result: string; answer: string; extra: string }

const texts: fc.Arbitrary<Texts> = fc.record({
  schema: objectText('schema'),
  output: objectText('output'),
  args: objectText('args'),
  result: objectText('result'),
  answer: objectText('answer'),
  extra: objectText('extra'),
})

/** An object that is found again by its first field. */
function objectText(place: string): fc.Arbitrary<string> {
  return valueText.map((value) => `{"at":"${place}","id":1098765432109876543,"value":${value}}`)
}

let gateway: TestGateway
let customer: Customer

beforeAll(async () => {
  gateway = await startTrio()
  customer = await gateway.customer('10000')
})

afterAll(() => gateway.stop())

const quoted = (text: string) => JSON.stringify(text)

function schemaText({ schema }: Pick<Texts, 'schema'>): string {
  return `{"type":"object","properties":{"id":{"type":"integer","maximum":9223372036854775807,"default":${schema}}}}`
}

/** A conversation with a call and its result, as its client writes it. */
function requestText(client: FormatName, provider: FormatName, mode: Mode, given: Texts): string {
  const { args, result, output } = given
  const [model, schema, wanted] = [quoted(modelAt(provider)), schemaText(given), schemaText({ schema: output })]
  const stream = mode === 'stream'
  switch (client) {
    case 'chat-completions':
      return `{"model":${model},"stream":${stream},"temperature":1.0,"metadata":${given.extra},"messages":[{"role":"user","content":"go"},
        {"role":"assistant","tool_calls":[{"id":"call_1","type":"function","function":{"name":"look","arguments":${quoted(args)}}}]},
        {"role":"tool","tool_call_id":"call_1","content":${quoted(result)}}],
        "tools":[{"type":"function","function":{"name":"look","parameters":${schema}}}],
        "response_format":{"type":"json_schema","json_schema":{"name":"answer","schema":${wanted}}}}`
    case 'messages':
      return `{"model":${model},"stream":${stream},"temperature":1.0,"metadata":{"extra":${given.extra}},"max_tokens":500,
        "messages":[{"role":"user","content":"go"},
        {"role":"assistant","content":[{"type":"tool_use","id":"call_1","name":"look","input":${args}}]},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","content":${quoted(result)}}]}],
        "tools":[{"name":"look","input_schema":${schema}}],
        "output_config":{"format":{"type":"json_schema","schema":${wanted}}}}`
    case 'generate-content':
      return `{"contents":[{"role":"user","parts":[{"text":"go"}]},
        {"role":"model","parts":[{"functionCall":{"id":"call_1","name":"look","args":${args}}}]},
        {"role":"user","parts":[{"functionResponse":{"id":"call_1","name":"look","response":${result}}}]}],
        "labels":${given.extra},"tools":[{"functionDeclarations":[{"name":"look","parametersJsonSchema":${schema}}]}],
        "generationConfig":{"temperature":1.0,"responseMimeType":"application/json","responseJsonSchema":${wanted}}}`
    case 'responses':
      return `{"model":${model},"stream":${stream},"temperature":1.0,"input":[{"role":"user","content":"go"},
        {"type":"function_call","call_id":"call_1","name":"look","arguments":${quoted(args)}},
        {"type":"function_call_output","call_id":"call_1","output":${quoted(result)}}],
        "tools":[{"type":"function","name":"look","parameters":${schema}}],
        "text":{"format":{"type":"json_schema","name":"answer","schema":${wanted}}}}`
  }
}

function addressOf(client: FormatName, provider: FormatName, mode: Mode): string {
  if (client === 'chat-completions') return '/v1/chat/completions'
  if (client === 'messages') return '/v1/messages'
  if (client === 'responses') return '/v1/responses'
  const verb = mode === 'stream' ? 'streamGenerateContent?alt=sse' : 'generateContent'
  return `/v1beta/models/${modelAt(provider)}:${verb}`
}

const JSON_TYPE = { 'content-type': 'application/json' }

/** A call with `args` as the provider of a format tells it, in one piece; as an object where it should be a text, if `isWhole`. */
function answerText(provider: FormatName, args: string, isWhole = false): string {
  switch (provider) {
    case 'chat-completions':
      return `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null,
        "tool_calls":[{"id":"call_2","type":"function","function":{"name":"look","arguments":${isWhole ? args : quoted(args)}}}]},"finish_reason":"tool_calls"}],
        "usage":{"prompt_tokens":5.0,"completion_tokens":5.0,"total_tokens":10.0}}`
    case 'messages':
      return `{"id":"m","type":"message","role":"assistant","model":"m","content":[{"type":"tool_use","id":"call_2","name":"look","input":${args}}],
        "stop_reason":"tool_use","usage":{"input_tokens":5.0,"output_tokens":5.0}}`
    case 'generate-content':
      return `{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"id":"call_2","name":"look","args":${args}}}]},
        "finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":5.0,"candidatesTokenCount":5.0,"totalTokenCount":10.0}}`
    case 'responses':
      return `{"id":"r","object":"response","created_at":1,"status":"completed","model":"m","output":[${callItem(isWhole ? args : quoted(args))}],
        "usage":{"input_tokens":5.0,"output_tokens":5.0,"total_tokens":10.0}}`
  }
}

function callItem(args: string, status = 'completed'): string {
  return `{"type":"function_call","id":"fc_1","status":"${status}","call_id":"call_2","name":"look","arguments":${args}}`
}

/** The same as a stream. `isWhole` puts the arguments where providers of the format seldom do: an object in one piece. */
function streamText(provider: FormatName, args: string, isWhole: boolean): string {
  if (provider === 'generate-content') return `data: ${answerText(provider, args).replaceAll('\n', '')}\n\n`
  const [head, tail] = [quoted(args.slice(0, 40)), quoted(args.slice(40))]
  if (provider === 'chat-completions') {
    const chunk = (delta: string, reason = 'null', more = '') =>
      `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":${delta},"finish_reason":${reason}}]${more}}\n\n`
    const call = (id: string, text: string) =>
      `{"tool_calls":[{"index":0,${id}"function":{"name":"look","arguments":${text}}}]}`
    const deltas = isWhole ? [call('"id":"call_2",', args)] : [call('"id":"call_2",', head), call('', tail)]
    const usage = ',"usage":{"prompt_tokens":5,"completion_tokens":5,"total_tokens":10}'
    return `${deltas.map((delta) => chunk(delta)).join('')}${chunk('{}', '"tool_calls"', usage)}data: [DONE]\n\n`
  }
  const event = (type: string, fields: string) => `event: ${type}\ndata: {"type":"${type}",${fields}}\n\n`
  if (provider === 'responses') {
    const pieces = isWhole ? [] : [head, tail]
    return [
      event(
        'response.created',
        '"response":{"id":"r","object":"response","created_at":1,"status":"in_progress","model":"m","output":[]}',
      ),
      event('response.output_item.added', `"output_index":0,"item":${callItem('""', 'in_progress')}`),
      ...pieces.map((piece) =>
        event('response.function_call_arguments.delta', `"output_index":0,"item_id":"fc_1","delta":${piece}`),
      ),
      event('response.output_item.done', `"output_index":0,"item":${callItem(quoted(args))}`),
      event('response.completed', `"response":${answerText(provider, args)}`.replaceAll('\n', '')),
    ].join('')
  }
  const delta = (text: string) =>
    event('content_block_delta', `"index":0,"delta":{"type":"input_json_delta","partial_json":${text}}`)
  const block = `"index":0,"content_block":{"type":"tool_use","id":"call_2","name":"look","input":${isWhole ? args : '{}'}}`
  return [
    event(
      'message_start',
      '"message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":5}}',
    ),
    event('content_block_start', block),
    ...(isWhole ? [] : [delta(head), delta(tail)]),
    event('content_block_stop', '"index":0'),
    event('message_delta', '"delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":5}'),
    'event: message_stop\ndata: {"type":"message_stop"}\n\n',
  ].join('')
}

/** What the client is told of the call, which chat-completions and streams of messages put into strings. */
function argumentsIn(client: FormatName, mode: Mode, text: string): string {
  const events =
    mode === 'stream' ? text.split('\n').flatMap((line) => (line.startsWith('data: {') ? [line.slice(6)] : [])) : [text]
  if (client === 'generate-content' || (client === 'messages' && mode !== 'stream')) return events.join('\n')
  return events.map((event) => stringsIn(parseJson(event), ['arguments', 'partial_json']).join('')).join('')
}

function stringsIn(value: JsonValue | undefined, names: readonly string[]): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, item]) =>
    typeof item === 'string' && names.includes(name) ? [item] : stringsIn(item, names),
  )
}

async function ask(client: FormatName, provider: FormatName, mode: Mode, given: Texts, isWhole = false) {
  const { upstream } = gateway
  const calls = upstream.calls.length
  upstream.respond(() =>
    mode === 'json'
      ? new Response(answerText(provider, given.answer, isWhole), { headers: JSON_TYPE })
      : new Response(streamText(provider, given.answer, isWhole), { headers: { 'content-type': 'text/event-stream' } }),
  )
  const response = await fetch(gateway.url + addressOf(client, provider, mode), {
    method: 'POST',
    headers: { ...JSON_TYPE, authorization: `Bearer ${customer.key}` },
    body: requestText(client, provider, mode, given),
  })
  const told = await response.text()
  expect([response.status, told.slice(0, 500)]).toEqual([200, expect.any(String)])
  return { told, sent: upstream.calls[calls]?.text ?? '' }
}

const PAIRS = FORMAT_NAMES.flatMap((client) => FORMAT_NAMES.map((provider) => ({ client, provider })))
const CELLS = PAIRS.flatMap((pair) => MODES.map((mode) => ({ ...pair, mode })))

describe('numbers in every pair of formats', () => {
  test.each(CELLS)('every number keeps its digits: $client to $provider, $mode', async ({ client, provider, mode }) => {
    await fc.assert(
      fc.asyncProperty(texts, fc.boolean(), async (given, isWhole) => {
        // An event of messages for their own client is relayed as it is.
        const isOwnEvent = client === provider && provider === 'messages' && mode === 'stream'
        const { told, sent } = await ask(client, provider, mode, given, isWhole && !isOwnEvent)
        const isText = (format: FormatName) => format !== 'generate-content'
        expect(sent).toContain(`"default":${given.schema}`)
        expect(sent).toContain(`"default":${given.output}`)
        expect(sent).toContain('"maximum":9223372036854775807')
        expect(sent).toContain(
          provider === 'chat-completions' || provider === 'responses' ? quoted(given.args) : given.args,
        )
        expect(sent).toContain(isText(provider) ? quoted(given.result) : given.result)
        // Values of metadata are texts in the responses format.
        if (client === provider && client !== 'responses') expect(sent).toContain(given.extra)
        expect(argumentsIn(client, mode, told)).toContain(given.answer)
      }),
      { numRuns: RUNS },
    )
  })
})

describe('numbers that the gateway reads', () => {
  test('the gateway reads numbers in any JSON notation', async () => {
    const { upstream } = gateway
    const calls = upstream.calls.length
    upstream.respond(() => new Response(answerText('chat-completions', '{}'), { headers: JSON_TYPE }))
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { ...JSON_TYPE, authorization: `Bearer ${customer.key}` },
      body: `{"model":"svc/chat-completions","messages":[{"role":"user","content":"go"}],"temperature":1.0,"top_p":1e0,"max_tokens":1e2,"n":1.0,
        "logit_bias":{"50256":-1e2}}`,
    })
    expect(response.status).toBe(200)
    const sent = upstream.calls[calls]
    expect(sent?.body).toMatchObject({ temperature: 1, top_p: 1, max_tokens: 100, n: 1 })
    expect(sent?.text).toContain('"max_tokens":100')
    // The provider states its usage as doubles.
    expect(Number(response.headers.get('x-svc-cost-usd'))).toBeCloseTo((5 * 1 + 5 * 2) / 1e6, 9)
  })
})

describe('tool results and chunks in unusual forms', () => {
  test('a block of an unknown kind in a tool result becomes text, with all digits', async () => {
    const given = {
      schema: '{}',
      output: '{}',
      args: '{}',
      result: '{}',
      answer: '{"id":1098765432109876543}',
      extra: '{}',
    }
    const block = '{"type":"rows","rows":[1098765432109876543,1.0]}'
    const { upstream } = gateway
    const calls = upstream.calls.length
    upstream.respond(() => new Response(answerText('chat-completions', given.answer), { headers: JSON_TYPE }))
    const body = requestText('messages', 'chat-completions', 'json', given).replace(
      '"content":"{}"',
      `"content":[${block}]`,
    )
    const headers = { ...JSON_TYPE, authorization: `Bearer ${customer.key}` }
    await fetch(`${gateway.url}/v1/messages`, { method: 'POST', headers, body })
    expect(upstream.calls[calls]?.text).toContain(quoted(block))
  })

  test('tool arguments that arrive by path keep their digits', async () => {
    const piece = '{"jsonPath":"$.ids[0]","numberValue":1098765432109876543}'
    const call = `{"functionCall":{"name":"look","partialArgs":[${piece}],"willContinue":false}}`
    const { upstream } = gateway
    upstream.respond(
      () =>
        new Response(`data: {"candidates":[{"content":{"parts":[${call}]},"finishReason":"STOP"}]}\n\n`, {
          headers: { 'content-type': 'text/event-stream' },
        }),
    )
    const response = await fetch(`${gateway.url}/v1/messages`, {
      method: 'POST',
      headers: { ...JSON_TYPE, authorization: `Bearer ${customer.key}` },
      body: '{"model":"svc/generate-content","stream":true,"max_tokens":50,"messages":[{"role":"user","content":"go"}]}',
    })
    expect(argumentsIn('messages', 'stream', await response.text())).toBe('{"ids":[1098765432109876543]}')
  })
})

describe('a request body copied for a provider of the caller’s format', () => {
  const MODEL = modelAt('chat-completions')

  async function sent(body: string): Promise<string> {
    const before = gateway.upstream.calls.length
    const headers = { ...JSON_TYPE, authorization: `Bearer ${customer.key}` }
    await (await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers, body })).text()
    return gateway.upstream.calls[before]?.text ?? ''
  }

  test("a copied body has the target's model name, and is otherwise unchanged", async () => {
    const body = (model: string) =>
      `{ "model" : "${model}", "max_tokens": 9,\n "messages": [{"role":"user","content":"a\\nb"}]}`
    const text = await sent(body(MODEL))
    expect(text).toBe(body((JSON.parse(text) as { model: string }).model))
  })

  test.each([
    ['in the body', `"n":1,"messages":[{"role":"user","content":"a\\nb"}],"n":2`],
    ['in a message', `"messages":[{"role":"user","content":"a\\n","content":"b"}]`],
  ])('a copied body never has a field twice: %s', async (_, fields) => {
    const text = await sent(`{"model":"${MODEL}",${fields}}`)
    const { messages, ...rest } = JSON.parse(text)
    expect(text).toBe(JSON.stringify({ model: rest.model, ...JSON.parse(`{${fields}}`) }))
    expect(messages).toHaveLength(1)
  })
})
