/** The settings of OpenTelemetry: off until an endpoint is set, then as its specification says. */
import { describe, expect, test } from 'bun:test'
import { type Environment, loadConfig } from '@/config/config'
import type { TelemetrySettings } from '@/lib/telemetry-settings'

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }

function settingsOf(environment: Environment): TelemetrySettings | undefined {
  const result = loadConfig(environment)
  if (result.kind === 'faulty') throw new Error(JSON.stringify(result.faults))
  return result.config.telemetry
}

function faultsOf(environment: Environment): string[] {
  const result = loadConfig({ ...ENDPOINT, ...environment })
  return result.kind === 'faulty' ? result.faults.map(({ place }) => place) : []
}

describe('no telemetry', () => {
  const cases: Environment[] = [
    {},
    { OTEL_SERVICE_NAME: 'x', OTEL_TRACES_SAMPLER: 'what nobody knows', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
    { ...ENDPOINT, OTEL_SDK_DISABLED: 'true' },
    { ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'none' },
    { OTEL_EXPORTER_OTLP_ENDPOINT: '' },
  ]
  test.each(cases)('no telemetry is exported with %j', (environment) => {
    expect(settingsOf(environment)).toBeUndefined()
  })
})

test('setting an endpoint turns telemetry on', () => {
  const usual = { protocol: 'http/protobuf', headers: {}, timeoutMs: 10_000, isCompressed: false } as const
  expect(settingsOf(ENDPOINT)).toEqual({
    serviceName: undefined,
    resource: {},
    traces: {
      ...usual,
      url: 'http://collector:4318/v1/traces',
      sampler: 'parentbased_always_on',
      ratio: 1,
      maxAttributeChars: undefined,
      batch: { delayMs: 5_000, timeoutMs: 30_000, maxQueue: 2_048, maxBatch: 512 },
    },
    metrics: { ...usual, url: 'http://collector:4318/v1/metrics', intervalMs: 60_000, exportTimeoutMs: 30_000 },
    capturesContent: false,
    continuesTraces: true,
    toProviders: 'traceparent',
  })
})

test('a variable for traces or metrics overrides the common variable', () => {
  const settings = settingsOf({
    OTEL_EXPORTER_OTLP_ENDPOINT: 'https://all.example/base/',
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces.example/as/it/is',
    OTEL_EXPORTER_OTLP_HEADERS: 'x-one=1,x-two=two%20words',
    OTEL_EXPORTER_OTLP_METRICS_HEADERS: 'x-one=3',
    OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: 'http/json',
    OTEL_EXPORTER_OTLP_TRACES_COMPRESSION: 'gzip',
    OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: '77',
  })
  expect(settings?.traces).toMatchObject({
    url: 'https://traces.example/as/it/is',
    headers: { 'x-one': '1', 'x-two': 'two words' },
    ...{ protocol: 'http/protobuf', isCompressed: true, timeoutMs: 77 },
  })
  expect(settings?.metrics).toMatchObject({
    url: 'https://all.example/base/v1/metrics',
    headers: { 'x-one': '3', 'x-two': 'two words' },
    ...{ protocol: 'http/json', isCompressed: false, timeoutMs: 10_000 },
  })
})

test('traces or metrics can be exported alone', () => {
  const only = settingsOf({ OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://collector:4318/v1/metrics' })
  expect([only?.traces, only?.metrics?.url]).toEqual([undefined, 'http://collector:4318/v1/metrics'])
})

test('a telemetry batch fits the queue, and an export takes less than its interval', () => {
  const environment = { ...ENDPOINT, OTEL_BSP_MAX_QUEUE_SIZE: '10', OTEL_METRIC_EXPORT_INTERVAL: '1000' }
  const settings = settingsOf(environment)
  expect([settings?.traces?.batch.maxBatch, settings?.metrics?.exportTimeoutMs]).toEqual([10, 1_000])
})

test.each([
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4317'],
  ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'a secret without a name'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'a=%zz'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'a=one%0d%0atwo'],
  ['OTEL_RESOURCE_ATTRIBUTES', 'no pairs'],
  ['OTEL_EXPORTER_OTLP_TIMEOUT', '0'],
  ['OTEL_EXPORTER_OTLP_COMPRESSION', 'zip'],
  ['OTEL_TRACES_SAMPLER', 'jaeger_remote'],
  ['OTEL_TRACES_SAMPLER_ARG', '1.5'],
  ['OTEL_BSP_MAX_QUEUE_SIZE', 'many'],
  ['OTEL_METRIC_EXPORT_INTERVAL', '-1'],
  ['OTEL_PROPAGATORS', 'b3'],
  ['OTEL_SDK_DISABLED', 'perhaps'],
  ['OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT', 'yes'],
  ['TRACE_CONTEXT_TO_PROVIDERS', 'all'],
])('%s=%s stops the start', (name, value) => {
  expect(faultsOf({ [name]: value })).toEqual([name])
})

test('errors of telemetry settings never contain a value, which may be a secret', () => {
  const result = loadConfig({ ...ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS: 'canary', OTEL_TRACES_SAMPLER: 'canary' })
  expect(JSON.stringify(result)).not.toContain('canary')
})
