import { FatalStartError } from '@/boot/fatal-start-error'
import type { Config } from '@/config/config'
import { findOtherLayout } from '@/ledger/other-layout'
import { connectRedis, type RedisClient, waitForRedis } from '@/ledger/store/connection'
import type { Logger } from '@/lib/logger'

const REDIS_START_TIMEOUT_MS = 10_000
/** Background work may wait longer than a client does. */
const WORKER_COMMAND_TIMEOUT_MS = 5_000

/** Connects two Redis clients, so that requests and background work don't delay each other. Rejects if unreachable or unsupported. */
export async function connectClients(
  url: string,
  config: Config,
  logger: Logger,
): Promise<[gateway: RedisClient, worker: RedisClient]> {
  const { redisKeyPrefix: keyPrefix, redisCommandTimeoutMs: commandTimeoutMs } = config
  const gateway = connectRedis(url, { logger, keyPrefix, commandTimeoutMs, name: 'gateway' })
  const worker = connectRedis(url, { logger, keyPrefix, commandTimeoutMs: WORKER_COMMAND_TIMEOUT_MS, name: 'worker' })
  await Promise.all([waitForRedis(gateway, REDIS_START_TIMEOUT_MS), waitForRedis(worker, REDIS_START_TIMEOUT_MS)])
  const other = await findOtherLayout(gateway)
  if (other === undefined) return [gateway, worker]
  for (const client of [gateway, worker]) client.disconnect()
  throw new FatalStartError(other)
}
