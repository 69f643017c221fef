/** OpenTelemetry settings, named as in its specification. Everything is off unless an endpoint is set. */
import { Type } from '@sinclair/typebox'
import type { Fault } from '@/lib/fault'
import { oneOf } from '@/lib/schemas'
import {
  type ExportSettings,
  PROTOCOLS,
  SAMPLERS,
  type TelemetrySettings,
  TO_PROVIDERS,
  type TraceSettings,
} from '@/lib/telemetry-settings'
import { optional, secret } from './variables'

const EXPORTERS = ['otlp', 'none'] as const
const SWITCH = ['true', 'false'] as const
const COMPRESSIONS = ['none', 'gzip'] as const
const PROPAGATORS = ['tracecontext', 'baggage', 'none']
const MAX_MS = 3_600_000
const MAX_SPANS = 1_000_000
const MAX_CHARS = 10_000_000

const text = (description: string) => optional(Type.String({ description }))

/** Validated only if something is exported, since a shared environment may contain values meant for other programs. */
export const TELEMETRY_VARIABLES = {
  OTEL_SDK_DISABLED: text('true or false'),
  OTEL_EXPORTER_OTLP_ENDPOINT: text('an address'),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: text('an address'),
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: text('an address'),
  OTEL_EXPORTER_OTLP_PROTOCOL: text('a protocol'),
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: text('a protocol'),
  OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: text('a protocol'),
  OTEL_EXPORTER_OTLP_HEADERS: optional(secret('', 'headers')),
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: optional(secret('', 'headers')),
  OTEL_EXPORTER_OTLP_METRICS_HEADERS: optional(secret('', 'headers')),
  OTEL_EXPORTER_OTLP_COMPRESSION: text('gzip or none'),
  OTEL_EXPORTER_OTLP_TRACES_COMPRESSION: text('gzip or none'),
  OTEL_EXPORTER_OTLP_METRICS_COMPRESSION: text('gzip or none'),
  OTEL_EXPORTER_OTLP_TIMEOUT: text('milliseconds'),
  OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: text('milliseconds'),
  OTEL_EXPORTER_OTLP_METRICS_TIMEOUT: text('milliseconds'),
  OTEL_TRACES_EXPORTER: text('otlp or none'),
  OTEL_METRICS_EXPORTER: text('otlp or none'),
  OTEL_SERVICE_NAME: text('a name'),
  OTEL_RESOURCE_ATTRIBUTES: text('attributes'),
  OTEL_PROPAGATORS: text('propagators'),
  OTEL_TRACES_SAMPLER: text('a sampler'),
  OTEL_TRACES_SAMPLER_ARG: text('a ratio'),
  OTEL_BSP_SCHEDULE_DELAY: text('milliseconds'),
  OTEL_BSP_EXPORT_TIMEOUT: text('milliseconds'),
  OTEL_BSP_MAX_QUEUE_SIZE: text('spans'),
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: text('spans'),
  OTEL_METRIC_EXPORT_INTERVAL: text('milliseconds'),
  OTEL_METRIC_EXPORT_TIMEOUT: text('milliseconds'),
  OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT: text('characters'),
  OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: text('true or false'),
  TRACE_CONTEXT_TO_PROVIDERS: optional(oneOf(TO_PROVIDERS, { description: TO_PROVIDERS.join(' or ') })),
}

/** Faults of the OpenTelemetry settings. */
export function telemetryFaults(values: Record<string, unknown>): Fault[] {
  return readTelemetry(values).faults
}

/** The validated settings; undefined if nothing is exported. */
export function toTelemetry(values: Record<string, unknown>): TelemetrySettings | undefined {
  return readTelemetry(values).settings
}

type Reader = ReturnType<typeof createReader>

function readTelemetry(values: Record<string, unknown>): { settings: TelemetrySettings | undefined; faults: Fault[] } {
  const reader = createReader(values)
  const isDisabled = reader.word('OTEL_SDK_DISABLED', SWITCH, 'false') === 'true'
  const traces = isDisabled ? undefined : readExport(reader, 'TRACES')
  const metrics = isDisabled ? undefined : readExport(reader, 'METRICS')
  if (!traces && !metrics) return { settings: undefined, faults: [] }
  const settings = {
    serviceName: reader.text('OTEL_SERVICE_NAME'),
    resource: reader.pairs('OTEL_RESOURCE_ATTRIBUTES'),
    traces: traces && { ...traces, ...readTraces(reader) },
    metrics: metrics && { ...metrics, ...readMetrics(reader) },
    capturesContent: reader.word('OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT', SWITCH, 'false') === 'true',
    continuesTraces: reader.list('OTEL_PROPAGATORS', PROPAGATORS, 'tracecontext,baggage').includes('tracecontext'),
    toProviders: reader.word('TRACE_CONTEXT_TO_PROVIDERS', TO_PROVIDERS, 'traceparent'),
  }
  return { settings, faults: reader.faults }
}

/** Settings for one signal (traces or metrics) override the settings for both. */
function readExport(reader: Reader, signal: 'TRACES' | 'METRICS'): ExportSettings | undefined {
  const named = (what: string) => {
    const own = `OTEL_EXPORTER_OTLP_${signal}_${what}`
    return reader.text(own) === undefined ? `OTEL_EXPORTER_OTLP_${what}` : own
  }
  const exporter = reader.word(`OTEL_${signal}_EXPORTER`, EXPORTERS, 'otlp')
  const endpoint = named('ENDPOINT')
  const address = reader.address(endpoint)
  if (address === undefined || exporter === 'none') return undefined
  const path = endpoint.includes(signal) ? '' : `/v1/${signal.toLowerCase()}`
  return {
    url: path === '' ? address : address.replace(/\/+$/, '') + path,
    protocol: reader.word(named('PROTOCOL'), PROTOCOLS, 'http/protobuf'),
    headers: { ...reader.pairs('OTEL_EXPORTER_OTLP_HEADERS'), ...reader.pairs(named('HEADERS')) },
    timeoutMs: reader.integer(named('TIMEOUT'), 10_000, MAX_MS),
    isCompressed: reader.word(named('COMPRESSION'), COMPRESSIONS, 'none') === 'gzip',
  }
}

function readTraces(reader: Reader): TraceSettings {
  const maxQueue = reader.integer('OTEL_BSP_MAX_QUEUE_SIZE', 2_048, MAX_SPANS)
  return {
    sampler: reader.word('OTEL_TRACES_SAMPLER', SAMPLERS, 'parentbased_always_on'),
    ratio: reader.ratio('OTEL_TRACES_SAMPLER_ARG'),
    maxAttributeChars: reader.text('OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT')
      ? reader.integer('OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT', 0, MAX_CHARS)
      : undefined,
    batch: {
      delayMs: reader.integer('OTEL_BSP_SCHEDULE_DELAY', 5_000, MAX_MS),
      timeoutMs: reader.integer('OTEL_BSP_EXPORT_TIMEOUT', 30_000, MAX_MS),
      maxQueue,
      maxBatch: Math.min(reader.integer('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 512, MAX_SPANS), maxQueue),
    },
  }
}

function readMetrics(reader: Reader): { intervalMs: number; exportTimeoutMs: number } {
  const intervalMs = reader.integer('OTEL_METRIC_EXPORT_INTERVAL', 60_000, MAX_MS)
  const timeoutMs = reader.integer('OTEL_METRIC_EXPORT_TIMEOUT', 30_000, MAX_MS)
  return { intervalMs, exportTimeoutMs: Math.min(timeoutMs, intervalMs) }
}

/** Parses values and collects faults. No fault quotes a value. */
function createReader(values: Record<string, unknown>) {
  const faults: Fault[] = []

  function expected(place: string, what: string): void {
    if (!faults.some((fault) => fault.place === place)) {
      faults.push({ place, message: `expected ${what}; its value (not shown) is something else` })
    }
  }

  function textOf(name: string): string | undefined {
    const value = values[name]
    return typeof value === 'string' ? value.trim() || undefined : undefined
  }

  function word<Word extends string>(name: string, words: readonly Word[], fallback: Word): Word {
    const value = textOf(name)?.toLowerCase()
    const found = value === undefined ? fallback : words.find((known) => known === value)
    if (found === undefined) expected(name, words.join(' or '))
    return found ?? fallback
  }

  return {
    faults,
    text: textOf,
    word,
    list(name: string, words: readonly string[], fallback: string): string[] {
      const named = (textOf(name) ?? fallback).split(',').map((one) => one.trim())
      if (!named.every((one) => words.includes(one))) expected(name, `a list of ${words.join(', ')}`)
      return named
    },
    address(name: string): string | undefined {
      const value = textOf(name)
      const isAddress = value !== undefined && /^https?:\/\/[^\s/]/.test(value) && URL.canParse(value)
      if (value !== undefined && !isAddress) expected(name, 'an http:// or https:// address')
      return value
    },
    integer(name: string, fallback: number, maximum: number): number {
      const value = textOf(name)
      if (value === undefined) return fallback
      const isInteger = /^\d{1,15}$/.test(value) && Number(value) >= 1 && Number(value) <= maximum
      if (!isInteger) expected(name, `an integer from 1 to ${maximum}`)
      return isInteger ? Number(value) : fallback
    },
    ratio(name: string): number {
      const value = Number(textOf(name) ?? 1)
      if (!(value >= 0 && value <= 1)) expected(name, 'a number from 0 to 1')
      return value
    },
    pairs(name: string): Record<string, string> {
      const parsed = parsePairs(textOf(name) ?? '')
      if (!parsed) expected(name, 'name=value, separated by commas, with what is special in a value as %20')
      return parsed ?? {}
    },
  }
}

/** Parses `a=1,b=two%20words`; undefined if malformed. */
function parsePairs(list: string): Record<string, string> | undefined {
  const pairs: Record<string, string> = {}
  for (const item of list.split(',')) {
    if (item.trim() === '') continue
    const [, name, value] = /^\s*([^\s=,;]+)\s*=\s*(.*?)\s*$/.exec(item) ?? []
    const decoded = value === undefined ? undefined : decodePercent(value)
    if (name === undefined || decoded === undefined || /[\r\n\0]/.test(decoded)) return undefined
    pairs[name] = decoded
  }
  return pairs
}

function decodePercent(value: string): string | undefined {
  try {
    return decodeURIComponent(value)
  } catch {
    return undefined
  }
}
