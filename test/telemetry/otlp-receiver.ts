/** A collector for tests: takes what is exported over HTTP, and reads it with the messages that OpenTelemetry itself generated. */
import { gunzipSync } from 'node:zlib'
import root from 'otlp-protos/build/src/generated/root.js'

type Wire = Record<string, unknown>
type Message = { decode(bytes: Uint8Array): unknown; toObject(message: unknown, options: object): Wire }
type Generated = {
  trace: { v1: { ExportTraceServiceRequest: Message } }
  metrics: { v1: { ExportMetricsServiceRequest: Message } }
}

const { collector } = (root as unknown as { opentelemetry: { proto: { collector: Generated } } }).opentelemetry.proto
const { ExportTraceServiceRequest } = collector.trace.v1
const { ExportMetricsServiceRequest } = collector.metrics.v1

type Attributes = Record<string, unknown>
type SpanEvent = { name: string; attributes: Attributes }
export type ReceivedSpan = {
  name: string
  kind: number
  traceId: string
  spanId: string
  parentSpanId: string
  traceState: string
  attributes: Attributes
  events: SpanEvent[]
  status: { code: number; message: string }
  durationNs: bigint
  resource: Attributes
}
type ReceivedPoint = {
  attributes: Attributes
  value?: number
  sum?: number
  count?: number
  bounds?: number[]
  buckets?: number[]
}
export type ReceivedMetric = {
  name: string
  unit: string
  kind: 'sum' | 'gauge' | 'histogram'
  points: ReceivedPoint[]
}

/** The numbers of the protocol. */
export const KIND = { internal: 1, server: 2, client: 3 }
export const ERROR = 2

export interface OtlpReceiver {
  readonly url: string
  /** In the order of their arrival. */
  readonly spans: ReceivedSpan[]
  /** The last export of each metric. */
  readonly metrics: Map<string, ReceivedMetric>
  /** Every body and every header that came, as text. */
  readonly seen: { path: string; headers: Headers; text: string }[]
  /** What it answers instead of taking what comes. */
  refuse(respond: (() => Response | Promise<Response>) | undefined): void
  stop(): void
}

/** Starts one on a free loopback port. */
export function startOtlpReceiver(): OtlpReceiver {
  const spans: ReceivedSpan[] = []
  const metrics = new Map<string, ReceivedMetric>()
  const seen: OtlpReceiver['seen'] = []
  let refusal: (() => Response | Promise<Response>) | undefined
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      const raw = new Uint8Array(await request.arrayBuffer())
      const bytes = request.headers.get('content-encoding') === 'gzip' ? gunzipSync(raw) : raw
      const path = new URL(request.url).pathname
      seen.push({ path, headers: request.headers, text: Buffer.from(bytes).toString('latin1') })
      if (refusal) return refusal()
      const isJson = request.headers.get('content-type') === 'application/json'
      if (path.endsWith('/v1/traces')) spans.push(...readSpans(bytes, isJson))
      else for (const metric of readMetrics(bytes, isJson)) metrics.set(metric.name, metric)
      return isJson
        ? Response.json({})
        : new Response(new Uint8Array(), { headers: { 'content-type': 'application/x-protobuf' } })
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    spans,
    metrics,
    seen,
    refuse(respond) {
      refusal = respond
    },
    stop: () => void server.stop(true),
  }
}

/** Both encodings come out as the protocol's own JSON, but that ids are base64 in protobuf's and hexadecimal in the exporters'. */
function read(message: Message, bytes: Uint8Array, isJson: boolean): Wire {
  if (isJson) return JSON.parse(Buffer.from(bytes).toString()) as Wire
  const plain = { longs: String, bytes: String, defaults: true }
  return message.toObject(message.decode(bytes), plain)
}

function readSpans(bytes: Uint8Array, isJson: boolean): ReceivedSpan[] {
  const idOf = (id: unknown) => (isJson ? String(id ?? '') : Buffer.from(String(id ?? ''), 'base64').toString('hex'))
  return list(read(ExportTraceServiceRequest, bytes, isJson).resourceSpans).flatMap((of) =>
    list(of.scopeSpans).flatMap((scope) =>
      list(scope.spans).map((span) => ({
        name: String(span.name),
        kind: Number(span.kind),
        traceId: idOf(span.traceId),
        spanId: idOf(span.spanId),
        parentSpanId: idOf(span.parentSpanId),
        traceState: String(span.traceState ?? ''),
        attributes: attributesOf(span.attributes),
        events: list(span.events).map((event) => ({
          name: String(event.name),
          attributes: attributesOf(event.attributes),
        })),
        status: statusOf(span.status as Wire | undefined),
        durationNs: BigInt(String(span.endTimeUnixNano)) - BigInt(String(span.startTimeUnixNano)),
        resource: attributesOf((of.resource as Wire).attributes),
      })),
    ),
  )
}

function statusOf(status: Wire | undefined): { code: number; message: string } {
  return { code: Number(status?.code ?? 0), message: String(status?.message ?? '') }
}

function readMetrics(bytes: Uint8Array, isJson: boolean): ReceivedMetric[] {
  return list(read(ExportMetricsServiceRequest, bytes, isJson).resourceMetrics).flatMap((of) =>
    list(of.scopeMetrics).flatMap((scope) =>
      list(scope.metrics).map((metric) => {
        const kind = (['sum', 'gauge', 'histogram'] as const).find((one) => metric[one]) ?? 'gauge'
        const points = list((metric[kind] as Wire).dataPoints).map((point) => ({
          attributes: attributesOf(point.attributes),
          ...(kind === 'histogram'
            ? {
                sum: Number(point.sum),
                count: Number(point.count),
                bounds: (point.explicitBounds as number[]).map(Number),
                buckets: (point.bucketCounts as unknown[]).map(Number),
              }
            : { value: Number(point.asDouble ?? point.asInt) }),
        }))
        return { name: String(metric.name), unit: String(metric.unit ?? ''), kind, points }
      }),
    ),
  )
}

function list(value: unknown): Wire[] {
  return (value ?? []) as Wire[]
}

function attributesOf(value: unknown): Attributes {
  return Object.fromEntries(list(value).map(({ key, value: any }) => [String(key), plainValue(any as Wire)]))
}

function plainValue(value: Wire): unknown {
  if (value.arrayValue) return list((value.arrayValue as Wire).values).map(plainValue)
  const [[kind, plain] = []] = Object.entries(value).filter(([name]) => name.endsWith('Value'))
  return kind === 'intValue' ? Number(plain) : plain
}
