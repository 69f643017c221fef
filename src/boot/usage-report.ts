/**
 * Connects a key's usage answers: summary, ratings and report. The report takes turns with the dashboard's views and uses their
 * connections.
 */
import { sightOfKey } from '@/accounts/members/memberships'
import type { UsageViews } from '@/console/usage-views/usage-views'
import type { Database } from '@/db/client'
import type { HttpDeps } from '@/http/deps'
import type { Ledger } from '@/ledger/ledger'
import { createFeedback } from '@/usage/feedback'
import { createGenerations } from '@/usage/generations'
import { createReports, type SightOf } from '@/usage/reports'
import { readUsageReport } from '@/usage/usage-report'

/** `reading` is the pool of `views`. */
type Parts = { database: Database; reading: Database; ledger: Ledger; views: Pick<UsageViews, 'inTurn'> }

/** Each tells a key what its member sees. */
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
