import { sightOfKey } from '@/accounts/members/memberships'
import type { UsageViews } from '@/console/usage-views/usage-views'
import type { Database } from '@/db/client'
import type { HttpDeps } from '@/http/deps'
import type { Ledger } from '@/ledger/ledger'
import { createFeedback } from '@/usage/feedback'
import { createGenerations } from '@/usage/generations'
import { createReports, type SightOf } from '@/usage/reports'
import { readUsageReport } from '@/usage/usage-report'

/** `reading`: the pool that `views` use. */
type Parts = { database: Database; reading: Database; ledger: Ledger; views: Pick<UsageViews, 'inTurn'> }

/** Connects a key's usage endpoints, which show only what its member may see. The report uses the pages' queue and Postgres pool. */
export function assembleUsageOfKeys({
  database,
  reading,
  ledger,
  views,
}: Parts): Pick<HttpDeps, 'reports' | 'generations' | 'usageReport' | 'feedback'> {
  const sightOf: SightOf = (key) => sightOfKey(database, key)
  return {
    reports: createReports(database, ledger, sightOf),
    generations: createGenerations(database, ledger, sightOf),
    feedback: createFeedback(database, sightOf),
    usageReport: ({ accountId, keyId }, query) =>
      views.inTurn(accountId, async () => {
        const sight = keyId === undefined ? {} : await sightOfKey(reading, { accountId, keyId })
        return await readUsageReport(reading, { ...query, accountId, ...sight })
      }),
  }
}
