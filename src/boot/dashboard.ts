/** Wires what only the dashboard needs: people and their sessions, orders, administration. */
import type { Config } from '@/config'
import type { Database } from '@/db/client'
import type { DashboardDeps } from '@/http/dashboard/routes'
import type { RedisClient } from '@/ledger/connection'
import type { Ledger } from '@/ledger/ledger'
import type { Logger } from '@/lib/logger'

export type DashboardParts = {
  config: Config
  database: Database
  ledger: Ledger
  redis: RedisClient
  logger: Logger
}

/** Everything behind `/dashboard/api`. */
export function assembleDashboard({ config }: DashboardParts): DashboardDeps {
  return {
    maxBodyBytes: config.maxBodyBytes,
    maxJsonDepth: config.maxJsonDepth,
    publicUrl: config.publicUrl,
    identifyViewer: async () => undefined,
  }
}
