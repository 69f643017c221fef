/** Wires the usage report of the API: read in the same turns, on the same connections, as what the dashboard shows of usage. */
import { onlyMadeBy } from '@/accounts/members/memberships'
import type { UsageViews } from '@/console/usage-views/usage-views'
import type { Database } from '@/db/client'
import type { HttpDeps } from '@/http/deps'
import { readUsageReport } from '@/usage/usage-report'

/** `database` is the pool of `views`. */
export function createUsageReport(database: Database, views: Pick<UsageViews, 'inTurn'>): HttpDeps['usageReport'] {
  return ({ accountId, keyId }, query) =>
    views.inTurn(accountId, async () => {
      const madeBy = keyId === undefined ? undefined : await onlyMadeBy(database, { accountId, keyId })
      return await readUsageReport(database, { ...query, accountId, madeBy })
    })
}
