/** Operator commands that check or rebuild the ledger. */
import { recordAudit } from '@/accounts/audit'
import { reconcileHistory } from '@/accounts/reconcile'
import { checkLedger } from '@/ledger/check/check'
import { rebuildAll } from '@/ledger/check/rebuild'
import type { Command } from './command'

export const LEDGER_COMMANDS: readonly Command[] = [
  {
    words: 'ledger check',
    help: 'checks that the money adds up in Redis, in Postgres and between them; safe under traffic',
    options: {},
    prepare: () => async (services) => {
      const ledger = await checkLedger(services)
      const history = await reconcileHistory(services.database, 'records')
      const violations = [...ledger.violations, ...history.violations]
      const { accounts, openHolds, unsyncedRecords } = ledger
      const ok = ledger.ok && violations.length === 0
      // Operators' scripts read this name; the records were called events when it was chosen.
      return { output: { ok, violations, accounts, openHolds, unsyncedEvents: unsyncedRecords }, exitCode: ok ? 0 : 1 }
    },
  },
  {
    words: 'ledger rebuild',
    help: 'restores the balances in Redis from Postgres; safe under traffic',
    options: {},
    prepare: () => async (services) => {
      // The audit entry is written first: rebuilding Redis cannot be part of a Postgres transaction.
      await services.database.db.transaction((transaction) =>
        recordAudit(transaction, {
          ...services.by,
          action: 'ledger.rebuild',
          subject: 'ledger',
          accountId: null,
          details: {},
        }),
      )
      return { output: { ...(await rebuildAll(services)) } }
    },
  },
]
