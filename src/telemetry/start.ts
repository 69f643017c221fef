/** Starts OpenTelemetry for one process, loaded only if configured. It is not registered globally, so that no library creates spans. */

import { type Tracer, trace } from '@opentelemetry/api'
import { defaultResource, type Resource, resourceFromAttributes } from '@opentelemetry/resources'
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import { ATTR_SERVICE_NAME, ATTR_SERVICE_VERSION } from '@opentelemetry/semantic-conventions'
import { ATTR_PROCESS_PID, ATTR_SERVICE_INSTANCE_ID } from '@opentelemetry/semantic-conventions/incubating'
import type { Clock } from '@/lib/clock'
import { withDeadline } from '@/lib/deadline'
import type { LogFields, Logger } from '@/lib/logger'
import type { TelemetrySettings, TraceSettings } from '@/lib/telemetry-settings'
import type { ExportCounts } from '@/metrics/export-metrics'
import { createExportLosses, createMetricExporter, createSpanProcessor, type ExportLosses } from './exporters'
import { createGenAiMetrics } from './gen-ai-metrics'
import { createRegistryProducer, type Series } from './registry-producer'
import { createRequestTraces } from './request-traces'
import { createTraceContext } from './trace-context'
import type { Tracing } from './tracing'

export interface Telemetry {
  readonly tracing: Tracing
  /** Adds the trace id to log lines with a request id. */
  readonly logger: Logger
  /** Also exports these metrics, and gives them the counts of exports and losses. */
  include(metrics: Included): void
  /** Exports the remaining spans and metrics within this time. Never rejects. */
  stop(timeoutMs: number): Promise<void>
}

type Included = { series(): Promise<readonly Series[]>; watchExports(counts: ExportCounts): void }

type TelemetryOptions = {
  settings: TelemetrySettings
  service: { name: string; version: string }
  /** Whether other processes have the same settings. */
  isOneOfSeveral: boolean
  logger: Logger
  clock: Clock
}

const SCOPE = 'svc-gateway'

export function startTelemetry(options: TelemetryOptions): Telemetry {
  const { settings, service, logger, clock } = options
  const losses = createExportLosses(logger, clock)
  const resource = resourceOf(options)
  const scope = { name: SCOPE, version: service.version }
  let series: () => Promise<readonly Series[]> = async () => []
  const traces = settings.traces && startTraces(settings.traces, resource, losses)
  const producer = createRegistryProducer(resource, scope, () => series())
  const meters = settings.metrics && startMetrics(settings.metrics, resource, losses, producer)
  const tracing = createRequestTraces({
    tracer: traces?.getTracer(SCOPE, service.version) ?? noTracer(),
    context: createTraceContext(settings),
    metrics: meters && createGenAiMetrics(meters.getMeter(SCOPE, service.version)),
    clock,
    capturesContent: settings.capturesContent,
  })
  return {
    tracing,
    logger: tracedLogger(logger, tracing),
    include(metrics) {
      series = metrics.series
      metrics.watchExports(losses.counts)
    },
    async stop(timeoutMs) {
      const flushed = Promise.allSettled([traces?.shutdown(), meters?.shutdown()])
      await withDeadline(flushed, timeoutMs, () => undefined)
    },
  }
}

function noTracer(): Tracer {
  return trace.getTracerProvider().getTracer(SCOPE)
}

function startTraces(
  settings: NonNullable<TelemetrySettings['traces']>,
  resource: Resource,
  losses: ExportLosses,
): TracerProvider {
  const { maxAttributeChars } = settings
  return new TracerProvider({
    resource,
    sampler: samplerOf(settings),
    ...(maxAttributeChars !== undefined && { spanLimits: { attributeValueLengthLimit: maxAttributeChars } }),
    spanProcessors: [createSpanProcessor(settings, losses)],
  })
}

function startMetrics(
  settings: NonNullable<TelemetrySettings['metrics']>,
  resource: Resource,
  losses: ExportLosses,
  producer: ReturnType<typeof createRegistryProducer>,
): MeterProvider {
  const reader = new PeriodicExportingMetricReader({
    exporter: createMetricExporter(settings, losses),
    exportIntervalMillis: settings.intervalMs,
    exportTimeoutMillis: settings.exportTimeoutMs,
    metricProducers: [producer],
  })
  return new MeterProvider({ resource, readers: [reader] })
}

function samplerOf({ sampler, ratio }: TraceSettings): Sampler {
  const root = sampler.endsWith('always_off')
    ? new AlwaysOffSampler()
    : sampler.endsWith('always_on')
      ? new AlwaysOnSampler()
      : new TraceIdRatioBasedSampler(ratio)
  return sampler.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root
}

/** The attributes of this process. They differ between processes, even if an operator gave all of them the same name. */
function resourceOf({ settings, service, isOneOfSeveral }: TelemetryOptions): Resource {
  const { serviceName, resource } = settings
  const given = resource[ATTR_SERVICE_INSTANCE_ID]
  const instance = given === undefined ? crypto.randomUUID() : isOneOfSeveral ? `${given}.${process.pid}` : given
  return defaultResource().merge(
    resourceFromAttributes({
      [ATTR_SERVICE_NAME]: service.name,
      [ATTR_SERVICE_VERSION]: service.version,
      ...resource,
      ...(serviceName !== undefined && { [ATTR_SERVICE_NAME]: serviceName }),
      [ATTR_SERVICE_INSTANCE_ID]: instance,
      [ATTR_PROCESS_PID]: process.pid,
    }),
  )
}

function tracedLogger(logger: Logger, tracing: Pick<Tracing, 'traceIdOf'>): Logger {
  function traceIdOf(fields: Readonly<Record<string, unknown>> | undefined): string | undefined {
    return typeof fields?.requestId === 'string' ? tracing.traceIdOf(fields.requestId) : undefined
  }
  function at(level: 'debug' | 'info' | 'warn' | 'error') {
    return (event: string, fields?: LogFields): void => {
      const traceId = traceIdOf(fields)
      logger[level](event, traceId === undefined ? fields : { ...fields, trace_id: traceId })
    }
  }
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    infoOwn(event, own, foreign) {
      const traceId = traceIdOf(own)
      logger.infoOwn(event, traceId === undefined ? own : { ...own, trace_id: traceId }, foreign)
    },
  }
}
