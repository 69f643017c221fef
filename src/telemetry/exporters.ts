/** The official exporters, with bounded queues and counted losses: if the collector is slow, dead or refuses, only spans are lost. */

import { type ExportResult, ExportResultCode } from '@opentelemetry/core'
import { OTLPMetricExporter as JsonMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http'
import { OTLPMetricExporter as ProtoMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto'
import { OTLPTraceExporter as JsonTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { OTLPTraceExporter as ProtoTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { CompressionAlgorithm } from '@opentelemetry/otlp-exporter-base'
import type { PushMetricExporter } from '@opentelemetry/sdk-metrics'
import { BatchSpanProcessor, type SpanExporter, type SpanProcessor } from '@opentelemetry/sdk-trace'
import type { Clock } from '@/lib/clock'
import type { Logger } from '@/lib/logger'
import type { ExportSettings, TelemetrySettings } from '@/lib/telemetry-settings'
import type { ExportCounts, ExportSignal, LossReason } from '@/metrics/export-metrics'

/** Sends spans in batches. If the queue is full, a span is dropped and counted. */
export function createSpanProcessor(
  settings: NonNullable<TelemetrySettings['traces']>,
  losses: ExportLosses,
): SpanProcessor {
  const { maxQueue, maxBatch, delayMs, timeoutMs } = settings.batch
  let waiting = 0
  const exporter = createTraceExporter(settings)
  const counting: SpanExporter = {
    export(spans, tell) {
      waiting -= spans.length
      exporter.export(spans, (result) => {
        countExport(losses, 'traces', spans.length, result)
        tell(result)
      })
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  }
  const batches = new BatchSpanProcessor({
    exporter: counting,
    maxQueueSize: maxQueue,
    maxExportBatchSize: maxBatch,
    scheduledDelayMillis: delayMs,
    exportTimeoutMillis: timeoutMs,
  })
  return {
    onStart: (span, context) => batches.onStart(span, context),
    onEnd(span) {
      if ((span.spanContext().traceFlags & SAMPLED) === 0) return
      if (waiting >= maxQueue) return losses.dropped('traces', 'queue_full', 1)
      waiting++
      batches.onEnd(span)
    },
    forceFlush: () => batches.forceFlush(),
    shutdown: () => batches.shutdown(),
  }
}

const SAMPLED = 1

function createTraceExporter(settings: NonNullable<TelemetrySettings['traces']>): SpanExporter {
  const { maxQueue, maxBatch } = settings.batch
  // Sends batches one after another, except the last flush, which sends all waiting ones at once.
  const options = { ...exporterOptions(settings), concurrencyLimit: Math.ceil(maxQueue / maxBatch) + 1 }
  return settings.protocol === 'http/json' ? new JsonTraceExporter(options) : new ProtoTraceExporter(options)
}

/** Sends metrics. Sums count from the process's start, so that the next export includes the counts of a failed export. */
export function createMetricExporter(settings: ExportSettings, losses: ExportLosses): PushMetricExporter {
  const options = exporterOptions(settings)
  const exporter =
    settings.protocol === 'http/json' ? new JsonMetricExporter(options) : new ProtoMetricExporter(options)
  return {
    export(metrics, tell) {
      exporter.export(metrics, (result) => {
        countExport(losses, 'metrics', 1, result)
        tell(result)
      })
    },
    selectAggregation: (instrument) => exporter.selectAggregation(instrument),
    selectAggregationTemporality: (instrument) => exporter.selectAggregationTemporality(instrument),
    forceFlush: () => exporter.forceFlush(),
    shutdown: () => exporter.shutdown(),
  }
}

/** Sets all options that the exporters would otherwise read from the environment. */
function exporterOptions({ url, headers, timeoutMs, isCompressed }: ExportSettings) {
  return {
    url,
    headers,
    timeoutMillis: timeoutMs,
    compression: isCompressed ? CompressionAlgorithm.GZIP : CompressionAlgorithm.NONE,
  }
}

function countExport(losses: ExportLosses, signal: 'traces' | 'metrics', count: number, result: ExportResult): void {
  if (result.code === ExportResultCode.SUCCESS) losses.exported(signal, count)
  else losses.dropped(signal, 'export_failed', count, result.error)
}

export interface ExportLosses {
  exported(signal: ExportSignal, count: number): void
  dropped(signal: ExportSignal, reason: LossReason, count: number, error?: unknown): void
  readonly counts: ExportCounts
}

const QUIET_MS = 60_000

/** Creates the counts of exports and losses. Logs a loss at most once a minute. */
export function createExportLosses(logger: Logger, clock: Pick<Clock, 'monotonic'>): ExportLosses {
  const counts: ExportCounts = {
    exported: { traces: 0, metrics: 0 },
    lost: { traces: { queue_full: 0, export_failed: 0 }, metrics: { queue_full: 0, export_failed: 0 } },
  }
  let unsaid = 0
  let saidAtMs = Number.NEGATIVE_INFINITY
  return {
    exported(signal, count) {
      counts.exported[signal] += count
    },
    dropped(signal, reason, count, error) {
      counts.lost[signal][reason] += count
      unsaid += count
      const nowMs = clock.monotonic()
      if (nowMs - saidAtMs < QUIET_MS) return
      saidAtMs = nowMs
      logger.warn('telemetry_lost', {
        signal,
        reason,
        count: unsaid,
        ...(error !== undefined && { error: nameOf(error) }),
      })
      unsaid = 0
    },
    counts,
  }
}

/** The collector's error text is not logged, because it may contain the exported data. */
function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const code = 'code' in error ? error.code : undefined
  return typeof code === 'string' || typeof code === 'number' ? String(code) : error.name
}
