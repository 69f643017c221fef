/** A process that archives and is killed after one of its steps; addresses of Postgres and Redis and the step as arguments. */

import { silentLogger } from '@test/accounts/fixture'
import { PATIENCE_MS } from '@test/support/until'
import { OPERATOR } from '@/accounts/audit'
import { archiveUsage } from '@/console/administration/usage-archive/usage-archive'
import { connectDatabase } from '@/db/client'
import { connectRedis, waitForRedis } from '@/ledger/store/connection'

const [ownerUrl = '', redisUrl = '', last] = process.argv.slice(2)
const redis = connectRedis(redisUrl, { logger: silentLogger })
await waitForRedis(redis, PATIENCE_MS)
const onStep = (step: string, month: string) => {
  if (`${step} ${month}` === last) process.kill(process.pid, 'SIGKILL')
}
await archiveUsage({ owner: connectDatabase(ownerUrl, { maxConnections: 2 }), redis, by: OPERATOR, onStep }, '2025-12')
