import type { Registry } from 'prom-client'
import { expose, labelled } from './series'

export type ExportSignal = 'traces' | 'metrics'
/** `queue_full`: the queue was full; `export_failed`: the collector did not accept the data. */
export type LossReason = 'queue_full' | 'export_failed'

export type ExportCounts = {
  exported: Record<ExportSignal, number>
  lost: Record<ExportSignal, Record<LossReason, number>>
}

/** Exposes the amounts of exported and lost OpenTelemetry data, lost data by reason, read at each scrape. */
export function exposeExports(registry: Registry, { exported, lost }: ExportCounts): void {
  expose(
    registry,
    labelled(
      'svc_telemetry_exported_total',
      'Spans, and exports of metrics, that the OpenTelemetry collector has taken.',
      'signal',
      () => Object.entries(exported),
    ),
    {
      name: 'svc_telemetry_lost_total',
      help: 'Spans, and exports of metrics, that were dropped because the queue was full or the collector did not take them.',
      *samples() {
        for (const [signal, reasons] of Object.entries(lost))
          for (const [reason, count] of Object.entries(reasons)) yield [{ signal, reason }, count]
      },
    },
  )
}
