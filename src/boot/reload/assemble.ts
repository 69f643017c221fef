/** Wires what one process does about reloads of the catalogue over the store that all gateways share. */
import { createReloadExchange } from '@/catalog/reload/exchange'
import type { LiveCatalog } from '@/catalog/reload/live-catalog'
import { createReloadParticipant, type ReloadParticipant } from '@/catalog/reload/participant'
import { runText } from '@/ledger/run-text'
import type { RedisClient } from '@/ledger/store/connection'
import { systemClock } from '@/lib/clock'
import type { Logger } from '@/lib/logger'

/** The file of the catalogue, whose gateway this is, and who gets its secrets, to redact them. */
export type Reloading = Pick<Parameters<typeof createReloadParticipant>[0], 'file' | 'gateway' | 'learnSecrets'>

type Parts = { catalog: LiveCatalog; workerRedis: RedisClient; logger: Logger }

/** The participant, not running yet. */
export function assembleReloads({ catalog, workerRedis, logger }: Parts, reloading: Reloading): ReloadParticipant {
  const exchange = createReloadExchange((text, name, args) => runText(workerRedis, text, [name], args))
  return createReloadParticipant({ ...reloading, exchange, catalog, clock: systemClock, logger })
}
