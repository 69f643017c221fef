/** A caller's trace continues in the gateway, and reaches providers only as the operator allows. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { chatCompletion } from '@test/support/upstream'
import { startTracedGateway, type TracedGateway } from './traced-gateway'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const PARENT = 'b7ad6b7169203331'
const BODY = { model: 'svc/alpha', messages: [{ role: 'user', content: 'Hi' }] }

function start(environment: Record<string, string> = {}): Promise<TracedGateway> {
  return startTracedGateway({ respond: () => Response.json(chatCompletion('Hello')), environment })
}

async function ask(world: TracedGateway, headers: Record<string, string>) {
  world.forget()
  world.gateway.upstream.calls.length = 0
  const response = await world.post('/v1/chat/completions', BODY, headers)
  expect(response.status).toBe(200)
  await response.text()
  const [call] = world.gateway.upstream.calls
  return { told: call?.headers ?? new Headers(), requestId: response.headers.get('x-request-id') ?? '' }
}

describe('the default trace context', () => {
  let world: TracedGateway
  beforeAll(async () => {
    world = await start()
  })
  afterAll(() => world.stop())
  beforeEach(() => world.forget())

  test('by default a caller’s trace continues, and providers get only its id', async () => {
    const { told, requestId } = await ask(world, {
      traceparent: `00-${TRACE}-${PARENT}-01`,
      tracestate: 'vendor=secret',
      baggage: 'user=secret',
    })
    const { server, calls } = await world.spansOf(requestId)
    expect(server).toMatchObject({ traceId: TRACE, parentSpanId: PARENT, traceState: 'vendor=secret' })
    expect(told.get('traceparent')).toBe(`00-${TRACE}-${calls[0]?.spanId}-01`)
    expect([told.get('tracestate'), told.get('baggage')]).toEqual([null, null])
  })

  test.each([
    'nonsense',
    `00-${'0'.repeat(32)}-${PARENT}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `ff-${TRACE}-${PARENT}-01`,
    `00-${TRACE.toUpperCase()}-${PARENT}-01`,
    `00-${TRACE}-${PARENT}-01-more`,
    `00-${TRACE}-${PARENT}-01, 00-${TRACE}-${PARENT}-01`,
  ])('a malformed trace is ignored: %s', async (traceparent) => {
    const { told, requestId } = await ask(world, { traceparent, tracestate: 'vendor=secret' })
    const { server } = await world.spansOf(requestId)
    expect(server).toMatchObject({ parentSpanId: '', traceState: '' })
    expect(server.traceId).not.toBe(TRACE)
    expect(told.get('traceparent')).toStartWith(`00-${server.traceId}-`)
  })

  test('an unsampled trace is not exported, and is passed on as unsampled', async () => {
    const { told } = await ask(world, { traceparent: `00-${TRACE}-${PARENT}-00` })
    expect(told.get('traceparent')).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-00$`))
    const { requestId } = await ask(world, {})
    await world.spansOf(requestId)
    expect(world.receiver.spans.filter(({ traceId }) => traceId === TRACE)).toEqual([])
  })
})

test.each([
  ['tracestate', /^00-/, 'vendor=secret'],
  ['none', undefined, null],
])('TRACE_CONTEXT_TO_PROVIDERS=%s decides the headers that providers get', async (setting, parent, state) => {
  const world = await start({ TRACE_CONTEXT_TO_PROVIDERS: setting })
  try {
    const { told } = await ask(world, { traceparent: `00-${TRACE}-${PARENT}-01`, tracestate: 'vendor=secret' })
    if (parent) expect(told.get('traceparent')).toMatch(parent)
    else expect(told.has('traceparent')).toBe(false)
    expect(told.get('tracestate')).toBe(state)
  } finally {
    await world.stop()
  }
})

test('OTEL_PROPAGATORS=none starts a new trace for every request', async () => {
  const world = await start({ OTEL_PROPAGATORS: 'none' })
  try {
    const { requestId } = await ask(world, { traceparent: `00-${TRACE}-${PARENT}-01` })
    const { server } = await world.spansOf(requestId)
    expect(server.traceId).not.toBe(TRACE)
  } finally {
    await world.stop()
  }
})

test('with a sampler of none metrics are still exported', async () => {
  const world = await start({ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' })
  try {
    await ask(world, { traceparent: `00-${TRACE}-${PARENT}-01` })
    await world.stop()
    expect(world.receiver.spans).toEqual([])
    expect(world.receiver.metrics.get('gen_ai.client.operation.duration')?.points[0]?.count).toBe(1)
  } finally {
    world.receiver.stop()
  }
})

test('with metrics only, providers get no trace, and no request is exported', async () => {
  const world = await start({ OTEL_TRACES_EXPORTER: 'none' })
  try {
    const { told } = await ask(world, { traceparent: `00-${TRACE}-${PARENT}-01` })
    expect(told.has('traceparent')).toBe(false)
    await world.stop()
    expect(new Set(world.receiver.seen.map(({ path }) => path))).toEqual(new Set(['/v1/metrics']))
    expect(world.receiver.metrics.get('gen_ai.client.operation.duration')?.points[0]?.count).toBe(1)
  } finally {
    world.receiver.stop()
  }
})
