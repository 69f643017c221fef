/** Restores every account in Redis from Postgres: `admin ledger rebuild`. Safe under traffic. */

import { viewAccounts } from '@/ledger/accounts/account-view'
import { applyView, createRestorer, type RestoreDeps, type Restorer } from '@/ledger/accounts/restore'
import type { LedgerHistory } from '@/ledger/outcomes'
import { commandTimeoutOf, type RedisClient } from '@/ledger/store/connection'
import { startEpochs } from '@/ledger/store/epoch-guard'
import { shardOf } from '@/ledger/store/names'
import { createScriptRunner } from '@/ledger/store/script-runner'
import type { Logger } from '@/lib/logger'

type RebuildOptions = { redis: RedisClient; history: LedgerHistory; logger: Logger }
type RebuildReport = { accounts: number }

const PAGE_SIZE = 2_000

/**
 * Rebuilds all accounts in Postgres. First every account and key becomes unconfirmed, so that each is compared with Postgres at its next
 * use; keys are only rebuilt this way. Open holds stay held, and records that have not reached Postgres stay charged. So the available
 * credit is the credit that was paid in, less all charges and holds. Accounts missing in Postgres stay unchanged; a check reports them.
 */
export async function rebuildAll({ redis, history, logger }: RebuildOptions): Promise<RebuildReport> {
  const runner = createScriptRunner(redis, commandTimeoutOf(redis))
  const deps = { redis, runner, history, logger }
  const restorer = createRestorer(deps)
  await startEpochs(redis, runner)
  let accounts = 0
  for await (const ids of pagesOfAccounts(history)) {
    const byShard = Map.groupBy(ids, shardOf)
    await Promise.all([...byShard].map(([shard, own]) => rebuildShard(deps, restorer, shard, own)))
    accounts += ids.length
    logger.info('ledger_rebuild_progress', { accounts })
  }
  return { accounts }
}

/** All account ids in Postgres, in batches. */
export async function* pagesOfAccounts(history: LedgerHistory, pageSize = PAGE_SIZE): AsyncGenerator<string[]> {
  let after = ''
  for (;;) {
    const ids = await history.accountIds(after, pageSize)
    if (ids.length > 0) yield ids
    const last = ids.at(-1)
    if (ids.length < pageSize || last === undefined) return
    after = last
  }
}

async function rebuildShard(
  deps: RestoreDeps,
  restorer: Restorer,
  shard: number,
  accountIds: readonly string[],
): Promise<void> {
  const views = await viewAccounts(deps, shard, new Map(accountIds.map((id) => [id, []])))
  for (const accountId of accountIds) {
    const view = views.get(accountId)
    // An account that changed after it was viewed is restored by itself.
    const isDone = view && (await applyView(deps, view, 'rebuild')) !== 'changed'
    if (!isDone) await restorer.account(accountId, 'rebuild')
  }
}
