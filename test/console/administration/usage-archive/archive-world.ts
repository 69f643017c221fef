/** An installation with months of usage behind it: both stores, the roles of a deployment, and everything that checks its books. */
import { openFixture, silentLogger } from '@test/accounts/fixture'
import { createTestAccount } from '@test/accounts/test-account'
import { asGateway, freshDatabase } from '@test/support/stores'
import { usageRecord } from '@test/usage/sample-records'
import { OPERATOR, verifyAuditChain } from '@/accounts/audit'
import { reconcileHistory } from '@/accounts/reconcile'
import type { ArchiveDeps } from '@/console/administration/usage-archive/usage-archive'
import { connectDatabase } from '@/db/client'
import { checkLedger } from '@/ledger/check/check'
import { rebuildAll } from '@/ledger/check/rebuild'
import type { UsageRecord } from '@/ledger/usage-record'
import { nano } from '@/lib/money'
import { writeUsageBatch } from '@/usage/write-batch'

export type ArchiveWorld = Awaited<ReturnType<typeof openArchiveWorld>>

/** On a Redis of the test's own, which is empty afterwards. Connects as a gateway does, and as the owner of the tables. */
export async function openArchiveWorld(redisUrl: string) {
  const address = await freshDatabase()
  const ownerUrl = `${address}?role=svc_migrator`
  const fixture = await openFixture(redisUrl, asGateway(address))
  const owner = connectDatabase(ownerUrl, { maxConnections: 2, statementTimeoutMs: 0 })
  const superuser = connectDatabase(address, { maxConnections: 1 })
  /** Books `records`, which Redis charged before; returns how many were new. */
  async function add(records: readonly UsageRecord[]): Promise<number> {
    const count = await writeUsageBatch(fixture.database.sql, records)
    await rebuildAll({ ...fixture, logger: silentLogger })
    return count
  }

  const deps: ArchiveDeps = { owner, redis: fixture.redis, by: OPERATOR }
  return {
    ...{ fixture, owner, ownerUrl, superuser, deps, redisUrl, gatewayUrl: asGateway(address) },
    /** Makes the tables of months and books `records`, as a flusher that has long done so. */
    async book(records: readonly UsageRecord[]): Promise<void> {
      const months = [...new Set(records.map(({ atMs }) => new Date(atMs).toISOString().slice(0, 7)))]
      for (const month of months) await owner.sql`SELECT ensure_usage_partitions(${`${month}-01`}::text::date, 1)`
      await add(records)
    },
    add,
    /** The kinds of everything that a full check of both stores finds. */
    async violations(): Promise<string[]> {
      const { redis, history, database } = fixture
      const ledger = await checkLedger({ redis, history, logger: silentLogger })
      const books = await reconcileHistory(database, 'records')
      const audit = await verifyAuditChain(database)
      return [...ledger.violations, ...books.violations]
        .map(({ kind }) => kind)
        .concat(audit.kind === 'intact' ? [] : ['audit'])
    },
    /** An account with credit for all that tests charge it. */
    async account(): Promise<string> {
      const accountId = await createTestAccount(fixture)
      await fixture.credits.addCredit({ accountId, amount: nano(1_000_000_000), reference: 'first' })
      return accountId
    },
    async close(): Promise<void> {
      await owner.close()
      await superuser.close()
      await fixture.redis.flushall()
      await fixture.close()
    },
  }
}

/** A settled record of a day, `yyyy-mm-dd`, at noon UTC. */
export function recordOf(accountId: string, day: string, changes: Parameters<typeof usageRecord>[0] = {}): UsageRecord {
  return usageRecord({ accountId, atMs: Date.parse(`${day}T12:00:00Z`), ...changes })
}
