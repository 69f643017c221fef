import type { Database } from '@/db/client'
import { withDatabaseDeadline } from '@/db/deadline'
import type { Payer } from '@/ledger/outcomes'
import { createBoundedMap } from '@/lib/bounded-map'
import { roleIn, sightOfKey } from './memberships'
import { mayDo } from './permissions'

/** Without an answer after this time, the balance is not shown. */
const TIMEOUT_MS = 1_000
/** How long an answer is cached, so that many refusals of one payer cause one query. */
const FRESH_MS = 1_000
const MAX_PAYERS = 10_000

/** Whether a payer may see the balance, by the role of the acting or the key's member. A key without a member may. Never rejects. */
export function createSeesBalance(database: Database): (payer: Payer) => Promise<boolean> {
  const answers = createBoundedMap<string, { untilMs: number; answer: Promise<boolean> }>(MAX_PAYERS)
  return (payer) => {
    const { accountId, keyId, memberId = '' } = payer
    const name = `${accountId} ${keyId} ${memberId}`
    const nowMs = performance.now()
    const known = answers.get(name)
    if (known && nowMs < known.untilMs) return known.answer
    const answer = withDatabaseDeadline(ask(database, payer), TIMEOUT_MS).catch(() => false)
    answers.set(name, { untilMs: nowMs + FRESH_MS, answer })
    return answer
  }
}

async function ask(database: Database, { accountId, keyId, memberId }: Payer): Promise<boolean> {
  if (memberId === undefined) return (await sightOfKey(database, { accountId, keyId })).seesBalance
  const role = await roleIn(database.db, accountId, memberId)
  return role !== undefined && mayDo(role, 'billing.read')
}
