/** The names that the requests of one account touch, made and checked once for as long as the account is busy. */
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

/** The names that one payer's holds need to reserve, settle and release. */
type PayerNames = {
  accountId: string
  shard: number
  meta: string
  account: string
  key: string
  deadlines: string
  records: string
  budgets: string
  /** The member who acts, where the payer names one. */
  memberId: string | undefined
  /** The payer in the scripts' form (`holderText`). */
  payer: string
  /** The prefix of a hold's name, before its id. */
  holdPrefix: string
}

const CAPACITY = 4_096
/** By the key's id: a name made of both ids would need a new hash for each request. */
const known = createBoundedMap<string, PayerNames>(CAPACITY)

/** The names of a payer. */
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
