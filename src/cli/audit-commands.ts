/** Operator commands for the audit log: list entries, and verify the chain of hashes. */
import { verifyAuditChain } from '@/accounts/audit'
import { searchAudit } from '@/console/administration/audit-search'
import { type Command, optional } from './command'
import { PAGE_OPTIONS, printPage, readPage } from './pages'
import { readText } from './values'

const FILTERS = {
  actor: optional('EMAIL', 'only what this person did, or `operator`'),
  action: optional('A', 'only this action, or its first word: credit.add, user'),
  subject: optional('ID', 'only what was done to this'),
  account: optional('ID', 'only what concerns this account'),
}

export const AUDIT_COMMANDS: readonly Command[] = [
  {
    words: 'audit list',
    help: 'lists what was changed by whom, newest first',
    options: { ...FILTERS, ...PAGE_OPTIONS },
    prepare(values) {
      const search = {
        ...readPage(values),
        ...(values.actor !== undefined && { actor: readText(values, 'actor') }),
        ...(values.action !== undefined && { action: readText(values, 'action') }),
        ...(values.subject !== undefined && { subject: readText(values, 'subject') }),
        ...(values.account !== undefined && { accountId: readText(values, 'account') }),
      }
      return async ({ database }) =>
        printPage('entries', await searchAudit(database, search), (row) => ({
          seq: row.seq,
          at: row.at,
          actor: row.actorEmail,
          action: row.action,
          subject: row.subject,
          accountId: row.accountId,
          details: row.details,
          requestId: row.requestId,
        }))
    },
  },
  {
    words: 'audit verify',
    help: 'verifies the audit log’s hash chain; keep `headHash` elsewhere: only it reveals missing entries at the end',
    options: {},
    prepare: () => async (services) => {
      const state = await verifyAuditChain(services.database)
      if (state.kind === 'intact') return { output: { ok: true, entries: state.entries, headHash: state.headHash } }
      return { output: { ok: false, seq: state.seq, fault: state.fault }, exitCode: 1 }
    },
  },
]
