import type { Catalog } from '@/catalog/types'
import type { Config } from '@/config/config'
import { PRODUCT } from '@/http/product'
import { systemClock } from '@/lib/clock'
import type { Logger } from '@/lib/logger'
import type { Telemetry } from '@/telemetry/start'

/** Loads OpenTelemetry if a collector is configured; otherwise undefined. */
export async function loadTelemetry(config: Config, catalog: Catalog, logger: Logger): Promise<Telemetry | undefined> {
  const { telemetry: settings, processes } = config
  if (!settings) return undefined
  const { startTelemetry } = await import('@/telemetry/start')
  const { traces, metrics, capturesContent } = settings
  logger.info('telemetry_exported', { traces: hostOf(traces?.url), metrics: hostOf(metrics?.url), capturesContent })
  return startTelemetry({
    settings,
    service: { name: catalog.service, version: PRODUCT.version },
    isOneOfSeveral: processes > 1,
    logger,
    clock: systemClock,
  })
}

/** Returns only the host, because the rest of a URL may contain a secret. */
function hostOf(url: string | undefined): string | undefined {
  return url && new URL(url).host
}
