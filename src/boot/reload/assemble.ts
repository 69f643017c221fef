/** Connects one process to catalogue reloads, which all gateways agree on through Redis. */
import { createReloadExchange } from '@/catalog/reload/exchange'
import type { LiveCatalog } from '@/catalog/reload/live-catalog'
import { createReloadParticipant, type ReloadParticipant } from '@/catalog/reload/participant'
import { runText } from '@/ledger/run-text'
import type { RedisClient } from '@/ledger/store/connection'
import { systemClock } from '@/lib/clock'
import type { Logger } from '@/lib/logger'

export type Reloading = Pick<Parameters<typeof createReloadParticipant>[0], 'file' | 'gateway' | 'learnSecrets'>

type Parts = { catalog: LiveCatalog; workerRedis: RedisClient; logger: Logger }

export function assembleReloads({ catalog, workerRedis, logger }: Parts, reloading: Reloading): ReloadParticipant {
  const exchange = createReloadExchange((text, name, args) => runText(workerRedis, text, [name], args))
  return createReloadParticipant({ ...reloading, exchange, catalog, clock: systemClock, logger })
}
