/** Telemetry compared with OpenTelemetry's published conventions: attributes, metrics, buckets, and the same values as in Prometheus. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { isDeepStrictEqual } from 'node:util'
import * as stable from '@opentelemetry/semantic-conventions'
import * as incubating from '@opentelemetry/semantic-conventions/incubating'
import { until } from '@test/support/until'
import { chatCompletion, chatStream, eventStream } from '@test/support/upstream'
import type { ReceivedMetric } from './otlp-receiver'
import { startTracedGateway, type TracedGateway } from './traced-gateway'

const BODY = { model: 'svc/alpha', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 50 }
const PUBLISHED: ReadonlySet<unknown> = new Set(
  [stable, incubating].flatMap((names: Record<string, unknown>) => Object.values(names)),
)
/** The recommended boundaries, from the text of the conventions. */
const DURATIONS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92]
const BUCKETS = {
  'gen_ai.client.operation.duration': DURATIONS,
  'gen_ai.client.operation.time_to_first_chunk': DURATIONS,
  'gen_ai.client.token.usage': [4 ** 0, ...Array.from({ length: 13 }, (_, power) => 4 ** (power + 1))],
  'gen_ai.server.request.duration': DURATIONS,
  'gen_ai.server.time_to_first_token': [
    0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
  ],
  'gen_ai.server.time_per_output_token': [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5],
}

let world: TracedGateway
beforeAll(async () => {
  world = await startTracedGateway({
    respond: ({ body }) =>
      body.stream ? eventStream(...chatStream(['One', 'two'])) : Response.json(chatCompletion('Hello')),
    environment: {
      OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true',
      OTEL_SERVICE_NAME: 'my gateway',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=a%20test,service.instance.id=seven',
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20of-the-collector',
    },
  })
  for (const stream of [false, true]) {
    await (await world.post('/v1/chat/completions', { ...BODY, stream })).text()
  }
  await (await world.post('/v1/chat/completions', { ...BODY, model: 'svc/none' })).text()
  world.gateway.upstream.respond(() => Response.json({ error: { message: 'no' } }, { status: 400 }))
  await (await world.post('/v1/chat/completions', BODY)).text()
  await until(() => world.receiver.spans.filter(({ kind }) => kind === 2).length === 4, 'all four requests')
  // An answer is counted once it is settled, which may be after the next call.
  const { metrics } = world.receiver
  const isComplete = () =>
    metrics.get('gen_ai.client.operation.duration')?.points.length === 2 &&
    metrics.get('gen_ai.client.token.usage')?.points.some(({ sum }) => sum === 20) === true &&
    Object.keys(BUCKETS).every((name) => metrics.has(name))
  await until(isComplete, 'the metrics of all requests')
})
afterAll(() => world.stop())

const metric = (name: string): ReceivedMetric => {
  const found = world.receiver.metrics.get(name)
  if (!found) throw new Error(`no metric ${name}`)
  return found
}

test('attribute names are in the conventions, or begin with svc', () => {
  const { spans, metrics } = world.receiver
  const told = [
    ...spans.flatMap(({ attributes, resource }) => [...Object.keys(attributes), ...Object.keys(resource)]),
    ...[...metrics.values()]
      .filter(({ name }) => name.startsWith('gen_ai.'))
      .flatMap(({ points }) => points.flatMap(({ attributes }) => Object.keys(attributes))),
  ]
  const names = [...new Set(told)].filter((name) => !name.startsWith('svc.'))
  expect(names.length).toBeGreaterThan(25)
  expect(names.filter((name) => !PUBLISHED.has(name))).toEqual([])
})

test('values of telemetry attributes are in the conventions', () => {
  const [call] = world.receiver.spans.filter(({ kind }) => kind === 3)
  const { GEN_AI_OPERATION_NAME_VALUE_CHAT: chat } = incubating
  expect(call?.attributes['gen_ai.operation.name']).toBe(chat)
  expect(world.receiver.spans[0]?.resource).toMatchObject({
    'service.name': 'my gateway',
    'service.version': expect.any(String),
    'service.instance.id': 'seven',
    'deployment.environment.name': 'a test',
    'telemetry.sdk.name': 'opentelemetry',
  })
})

test('metrics that the conventions define have the conventions’ names, units and buckets', () => {
  const told = [...world.receiver.metrics.keys()].filter((name) => name.startsWith('gen_ai.')).sort()
  expect(told).toEqual(Object.keys(BUCKETS).sort())
  for (const [name, boundaries] of Object.entries(BUCKETS)) {
    expect(PUBLISHED.has(name)).toBe(true)
    const { kind, unit, points } = metric(name)
    expect({ name, kind, unit }).toEqual({ name, kind: 'histogram', unit: name.endsWith('usage') ? '{token}' : 's' })
    expect(points[0]?.bounds).toEqual(boundaries)
  }
  const usage = metric('gen_ai.client.token.usage').points
  expect(usage.map(({ attributes, sum }) => [attributes['gen_ai.token.type'], sum]).sort()).toEqual([
    ['input', 20],
    ['output', 10],
  ])
  const durations = metric('gen_ai.client.operation.duration').points
  expect(durations.map(({ attributes, count }) => [attributes['error.type'], count])).toEqual([
    [undefined, 2],
    ['400', 1],
  ])
  expect(metric('gen_ai.client.operation.time_to_first_chunk').points[0]?.count).toBe(1)
})

test('every Prometheus series is exported once with the same values', async () => {
  const stableNames = /^svc_(requests_total|tokens_total|cost_usd_total|charges_total|request_duration_seconds)/
  const text = await (await fetch(`${world.gateway.url}/metrics`)).text()
  const families = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => [name, type] as const)
  expect(families.length).toBeGreaterThan(40)
  for (const [name, type] of families) {
    const kind = type === 'counter' ? 'sum' : type
    expect({ name, kind: metric(name).kind }).toEqual({ name, kind: kind as ReceivedMetric['kind'] })
  }
  const lines = text.split('\n').filter((line) => stableNames.test(line) && !/_(bucket|sum)/.test(line))
  expect(lines.length).toBeGreaterThan(5)
  const toldOf = (line: string) => {
    const [, sample = '', labels = '', value] = /^(\w+?)(?:_count)?(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
    const attributes = Object.fromEntries(
      [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, word]) => [name, word]),
    )
    const points = metric(sample).points.filter((point) =>
      Object.entries(attributes).every(([name, word]) => String(point.attributes[name]) === word),
    )
    return { line, values: points.map((point) => point.value ?? point.count), expected: [Number(value)] }
  }
  const wrong = () => lines.map(toldOf).filter(({ values, expected }) => !isDeepStrictEqual(values, expected))
  // What was counted since the latest export comes with the next.
  await until(() => wrong().length === 0, 'the same numbers').catch(() => expect(wrong()).toEqual([]))
  const { points } = metric('svc_request_duration_seconds')
  for (const { buckets = [], bounds = [], count } of points) {
    expect(buckets).toHaveLength(bounds.length + 1)
    expect(buckets.reduce((sum, one) => sum + one, 0)).toBe(Number(count))
  }
})

test('the resource attributes are those of the settings', () => {
  for (const { headers } of world.receiver.seen) {
    expect(headers.get('authorization')).toBe('Bearer of-the-collector')
    expect(headers.get('content-encoding')).toBe('gzip')
  }
  expect(new Set(world.receiver.seen.map(({ path }) => path))).toEqual(new Set(['/v1/traces', '/v1/metrics']))
})
