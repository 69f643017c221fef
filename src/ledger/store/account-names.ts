/** The names that the requests of one account use, cached while the account is busy. */
import { createBoundedMap } from '@/lib/bounded-map'
import {
  accountName,
  budgetsName,
  checkedId,
  deadlinesName,
  holderText,
  holdPrefix,
  keyName,
  metaName,
  type Payer,
  recordsName,
  shardOf,
} from './names'

/** The names for reserving, settling and releasing one payer's holds. */
type PayerNames = {
  accountId: string
  shard: number
  meta: string
  account: string
  key: string
  deadlines: string
  records: string
  budgets: string
  /** The acting member, if any. */
  memberId: string | undefined
  /** The payer as script argument (`holderText`). */
  payer: string
  /** The prefix of a hold's name, before its id. */
  holdPrefix: string
}

const CAPACITY = 4_096
/** Names by key id. A text of account id and key id would have to be hashed anew for each request. */
const known = createBoundedMap<string, PayerNames>(CAPACITY)

/** The names of a payer, from the cache if possible. */
export function namesOf({ accountId, keyId, memberId }: Payer): PayerNames {
  const present = known.get(keyId)
  if (present?.accountId === accountId && present.memberId === memberId) return present
  const shard = shardOf(accountId)
  const names = {
    accountId,
    shard,
    memberId,
    payer: holderText({ accountId, keyId, memberId }),
    account: accountName(accountId),
    key: keyName({ accountId, keyId }),
    meta: metaName(shard),
    deadlines: deadlinesName(shard),
    records: recordsName(shard),
    budgets: budgetsName(accountId),
    holdPrefix: holdPrefix(accountId),
  }
  known.set(keyId, names)
  return names
}

/** The name of a hold of this payer. */
export function holdOf(names: PayerNames, holdId: string): string {
  return names.holdPrefix + checkedId(holdId)
}
