/** Counts what was exported and what was lost, and says the latter in the log: at once, and then no more than once a minute. */
import type { Clock } from '@/lib/clock'
import type { Logger } from '@/lib/logger'
import type { ExportCounts, ExportSignal, LossReason } from '@/metrics/export-metrics'

/** Told by the exporters. */
export interface ExportLosses {
  exported(signal: ExportSignal, count: number): void
  dropped(signal: ExportSignal, reason: LossReason, count: number, error?: unknown): void
  readonly counts: ExportCounts
}

const QUIET_MS = 60_000

/** Counts from nothing. */
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

/** A collector's own words stay out of the log: it may repeat what it was sent. */
function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const code = 'code' in error ? error.code : undefined
  return typeof code === 'string' || typeof code === 'number' ? String(code) : error.name
}
