/** A process with one flusher that is killed right after its first commit; addresses of Redis and Postgres as arguments. */
import { PATIENCE_MS } from '@test/support/until'
import { connectDatabase } from '@/db/client'
import { connectRedis, waitForRedis } from '@/ledger/store/connection'
import { createFlusher } from '@/usage/flusher'
import { logRecorder } from './log-recorder'

const [redisUrl = '', databaseUrl = ''] = process.argv.slice(2)
const { logger } = logRecorder()
const redis = connectRedis(redisUrl, { logger })
await waitForRedis(redis, PATIENCE_MS)
createFlusher({
  redis,
  connect: () => connectDatabase(databaseUrl, { maxConnections: 1 }),
  logger,
  afterCommit: async (records) => {
    if (records.length > 0) process.kill(process.pid, 'SIGKILL')
  },
}).start()
