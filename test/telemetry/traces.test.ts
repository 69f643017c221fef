/** The spans of one request, however it ends: one for the request, and below it one for each step and each call. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { sellEmbeddings } from '@test/gateway/embed/providers'
import { spend } from '@test/support/delays'
import { until } from '@test/support/until'
import {
  chatChunk,
  chatCompletion,
  chatStream,
  eventStream,
  liveStream,
  type UpstreamCall,
  usageChunk,
} from '@test/support/upstream'
import { ERROR, KIND, type ReceivedSpan } from './otlp-receiver'
import { startTracedGateway, type TracedGateway } from './traced-gateway'

let world: TracedGateway
beforeAll(async () => {
  world = await startTracedGateway({
    respond: () => Response.json(chatCompletion('Hello')),
    catalog(file) {
      sellEmbeddings(file)
      const [alpha] = file.models
      const own: Record<string, unknown> = { ...file.providers.provider1, timeouts: TIMEOUTS }
      file.providers.second = { ...own, baseUrl: String(own.baseUrl).replace('/v1', '/second/v1') }
      file.providers.provider1 = own
      const targets = [
        { provider: 'provider1', model: 'alpha-upstream' },
        { provider: 'second', model: 'beta-upstream' },
      ]
      file.models.push({ ...alpha, id: 'svc/two', targets })
    },
  })
})
afterAll(() => world.stop())
beforeEach(() => world.forget())

const TIMEOUTS = { connectMs: 2_000, firstByteMs: 60_000, idleMs: 60_000, totalMs: 120_000, hedgeMs: 1_500 }
const BODY = { model: 'svc/alpha', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 50 }
const respond = (script: (call: UpstreamCall) => Response | Promise<Response>) => world.gateway.upstream.respond(script)
const isSecond = ({ path }: UpstreamCall) => path.startsWith('/second/')

async function ask(body: object = {}, headers: object = {}) {
  const response = await world.post('/v1/chat/completions', { ...BODY, ...body }, { ...headers })
  const text = await response.text()
  return { response, text, trace: await world.spansOf() }
}

function isUnder(parent: ReceivedSpan, spans: readonly ReceivedSpan[]): boolean {
  return spans.every(({ traceId, parentSpanId }) => traceId === parent.traceId && parentSpanId === parent.spanId)
}

describe('the spans of an answer', () => {
  test('a whole answer is a client span with all attributes of the conventions, below the request', async () => {
    respond(() => Response.json(chatCompletion('Hello')))
    const { response, trace } = await ask({ temperature: 0.5, top_p: 0.9, seed: 7, frequency_penalty: 0.1 })
    const { server, calls, all } = trace
    expect(server).toMatchObject({
      ...{ name: 'POST /v1/chat/completions', kind: KIND.server, parentSpanId: '', status: { code: 0 } },
      attributes: {
        'http.request.method': 'POST',
        'http.route': '/v1/chat/completions',
        'http.response.status_code': 200,
        'url.path': '/v1/chat/completions',
        'url.scheme': 'http',
        'svc.request.id': response.headers.get('x-request-id'),
        'svc.account.id': world.customer.accountId,
        'svc.key.id': world.customer.keyId,
        'svc.model': 'svc/alpha',
        'svc.ending': 'complete',
        'svc.cost_nano_usd': 20_000,
      },
    })
    expect(calls).toHaveLength(1)
    const port = Number(new URL(world.gateway.upstream.url).port)
    expect(calls[0]).toMatchObject({ name: 'chat alpha-upstream', kind: KIND.client, status: { code: 0 } })
    expect(calls[0]?.attributes).toEqual({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'provider1',
      'gen_ai.request.model': 'alpha-upstream',
      'gen_ai.request.max_tokens': 50,
      'gen_ai.request.temperature': 0.5,
      'gen_ai.request.top_p': 0.9,
      'gen_ai.request.seed': 7,
      'gen_ai.request.frequency_penalty': 0.1,
      'gen_ai.response.id': 'chatcmpl-upstream',
      'gen_ai.response.model': 'alpha-upstream',
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.usage.input_tokens': 10,
      'gen_ai.usage.output_tokens': 5,
      'gen_ai.usage.cache_read.input_tokens': 0,
      'gen_ai.usage.cache_creation.input_tokens': 0,
      'gen_ai.usage.reasoning.output_tokens': 0,
      'server.address': '127.0.0.1',
      'server.port': port,
      'svc.attempt.number': 1,
      'svc.provider': 'provider1',
      'svc.model': 'svc/alpha',
      'svc.ending': 'complete',
      'svc.billing_rule': 'usage',
      'svc.cost_nano_usd': 20_000,
    })
    expect(trace.step('plan')?.attributes).toEqual({
      'svc.plan.requested_model': 'svc/alpha',
      'svc.plan.targets': ['provider1/alpha-upstream'],
    })
    expect(trace.step('reserve')?.attributes).toMatchObject({ 'svc.reserve.outcome': 'reserved' })
    expect(Number(trace.step('reserve')?.attributes['svc.reserve.hold_nano_usd'])).toBeGreaterThan(20_000)
    expect(trace.step('settle')).toMatchObject({ kind: KIND.internal })
    expect(
      isUnder(
        server,
        all.filter((span) => span !== server),
      ),
    ).toBe(true)
    expect(all).toHaveLength(5)
  })

  test('a stream’s span ends with its last chunk, and has the time of the first chunk', async () => {
    const live = liveStream()
    respond(() => live.response)
    const pending = world.post('/v1/chat/completions', { ...BODY, stream: true })
    live.write(`data: ${JSON.stringify(chatChunk({ content: 'One' }))}\n\n`)
    const response = await pending
    const reader = response.body?.getReader()
    await reader?.read()
    await spend(100)
    expect(world.receiver.spans.filter(({ kind }) => kind !== KIND.internal)).toEqual([])
    for (const event of [chatChunk({}, 'stop'), usageChunk()]) live.write(`data: ${JSON.stringify(event)}\n\n`)
    live.write('data: [DONE]\n\n')
    live.close()
    while (!(await reader?.read())?.done);
    const { server, calls } = await world.spansOf()
    expect(calls[0]?.attributes).toMatchObject({
      'gen_ai.request.stream': true,
      'gen_ai.response.time_to_first_chunk': expect.any(Number),
      'gen_ai.response.id': 'chatcmpl-upstream',
      'gen_ai.usage.output_tokens': 5,
    })
    expect(calls[0]?.events).toEqual([{ name: 'svc.first_content', attributes: {} }])
    expect(server.attributes).toMatchObject({ 'svc.first_token_ms': expect.any(Number), 'svc.ending': 'complete' })
    for (const span of [server, calls[0]]) expect(Number(span?.durationNs)).toBeGreaterThan(100_000_000)
  })

  test('embeddings are an embeddings span', async () => {
    const answer = { data: [{ object: 'embedding', index: 0, embedding: [0.1, 0.2] }], usage: { prompt_tokens: 3 } }
    respond(() => Response.json({ object: 'list', model: 'e', ...answer }))
    const asked = { model: 'svc/embed', input: 'text', dimensions: 2, encoding_format: 'float' }
    const response = await world.post('/v1/embeddings', asked)
    expect(response.status).toBe(200)
    const { calls, server, step } = await world.spansOf()
    expect(server).toMatchObject({ name: 'POST /v1/embeddings', attributes: { 'svc.ending': 'complete' } })
    expect(calls[0]).toMatchObject({
      name: 'embeddings provider1-embedder',
      attributes: {
        'gen_ai.operation.name': 'embeddings',
        'gen_ai.embeddings.dimension.count': 2,
        'gen_ai.request.encoding_formats': ['float'],
        'gen_ai.usage.input_tokens': 3,
      },
    })
    expect(step('plan')?.attributes['svc.plan.targets']).toEqual(['provider1/provider1-embedder'])
  })
})

describe('spans of several calls', () => {
  test('successive provider calls have a span each, with the fault but no text of the provider', async () => {
    const error = { error: { message: 'you said canary-of-the-provider', type: 'x' } }
    respond((call) => (isSecond(call) ? Response.json(chatCompletion('Hi')) : Response.json(error, { status: 503 })))
    const { trace } = await ask({ model: 'svc/two' })
    const [first, second] = trace.calls.filter(({ name }) => name.endsWith('upstream'))
    expect(first).toMatchObject({
      ...{ name: 'chat alpha-upstream', status: { code: ERROR, message: '503' } },
      attributes: {
        'error.type': '503',
        'http.response.status_code': 503,
        'svc.attempt.fault_class': 'transient',
        'svc.attempt.reason': 'overloaded',
      },
    })
    expect(trace.calls.at(-1)).toMatchObject({ name: 'chat beta-upstream', status: { code: 0 } })
    expect(second).toBeDefined()
    expect(trace.server.status.code).toBe(0)
    expect(JSON.stringify(trace.all.map(({ attributes, status }) => [attributes, status]))).not.toContain('canary-of')
  })

  test('of parallel provider calls, the span of the slower one is marked', async () => {
    respond(async (call) => {
      if (isSecond(call)) return Response.json(chatCompletion('Hi'))
      await until(() => call.isAborted, 'nobody to wait any more')
      return new Response(null, { status: 500 })
    })
    const { trace } = await ask({ model: 'svc/two' })
    expect(trace.calls).toHaveLength(2)
    expect(trace.calls[0]?.attributes).toMatchObject({ 'svc.attempt.outcome': 'outrun', 'svc.provider': 'provider1' })
    expect(trace.calls[1]?.attributes).toMatchObject({ 'svc.ending': 'complete', 'svc.provider': 'second' })
  })

  test('if all calls fail, the request’s span fails', async () => {
    respond(() => Response.json({ error: { message: 'no' } }, { status: 500 }))
    const { response, trace } = await ask()
    expect(response.status).toBe(502)
    expect(trace.server).toMatchObject({
      status: { code: ERROR },
      attributes: { 'error.type': '502', 'svc.error.kind': 'upstream_failed', 'svc.ending': 'refused' },
    })
    expect(trace.calls.every(({ status }) => status.code === ERROR)).toBe(true)
  })
})

describe('spans of an answer that breaks off', () => {
  test('if the provider broke off, the call’s span has the reason', async () => {
    const live = liveStream()
    live.write(`data: ${JSON.stringify(chatChunk({ content: 'One' }))}\n\n`)
    respond(() => live.response)
    const response = await world.post('/v1/chat/completions', { ...BODY, stream: true })
    const reader = response.body?.getReader()
    await reader?.read()
    live.error()
    while (!(await reader?.read())?.done);
    const { calls, server } = await world.spansOf()
    expect(calls[0]).toMatchObject({
      status: { code: ERROR },
      attributes: { 'svc.ending': 'broken', 'error.type': 'broken' },
    })
    expect(server.attributes).toMatchObject({ 'svc.ending': 'broken', 'http.response.status_code': 200 })
  })

  test('an answer that ends by a disconnect is not an error', async () => {
    respond(() => {
      const live = liveStream()
      live.write(`data: ${JSON.stringify(chatChunk({ content: 'One' }))}\n\n`)
      return live.response
    })
    const controller = new AbortController()
    const asked = { ...BODY, stream: true }
    const response = await world.post('/v1/chat/completions', asked, {}, controller.signal)
    await response.body?.getReader().read()
    controller.abort()
    const { server, calls } = await world.spansOf()
    expect(calls[0]).toMatchObject({ status: { code: 0 }, attributes: { 'svc.ending': 'disconnected' } })
    expect(server.attributes['svc.ending']).toBe('disconnected')
  })

  test('the span of an answer is marked if its client disconnected before the answer began', async () => {
    respond(async (call) => {
      await until(() => call.isAborted, 'nobody to wait any more')
      return new Response(null, { status: 500 })
    })
    const controller = new AbortController()
    const pending = world
      .post('/v1/chat/completions', { ...BODY, stream: true }, {}, controller.signal)
      .catch(() => undefined)
    const before = world.gateway.upstream.calls.length
    await until(() => world.gateway.upstream.calls.length > before, 'the call')
    controller.abort()
    await pending
    const { server, calls } = await world.spansOf()
    expect(calls[0]?.attributes['svc.ending']).toBe('unanswered')
    expect(server.attributes).toMatchObject({ 'svc.ending': 'unanswered', 'http.response.status_code': 499 })
  })
})

test('log lines with a request id also have its trace id', async () => {
  respond(() => eventStream(...chatStream(['Hi'])))
  const { response, trace } = await ask({ stream: true })
  const requestId = response.headers.get('x-request-id') ?? ''
  const lines = world.gateway.logLines.filter((line) => line.includes(requestId))
  expect(lines.length).toBeGreaterThan(0)
  for (const line of lines) expect(JSON.parse(line)).toMatchObject({ trace_id: trace.server.traceId })
})
