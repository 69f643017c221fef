/** The names that the requests of one account touch, made and checked once for as long as the account is busy. */
import { createBoundedMap } from '@/lib/bounded-map'
import {
  accountName,
  budgetsName,
  checkedId,
  deadlinesName,
  holdPrefix,
  keyName,
  metaName,
  type Payer,
  recentName,
  recordsName,
  shardOf,
} from './names'

/** What one payer's holds are reserved, settled and released with. */
type PayerNames = {
  shard: number
  meta: string
  account: string
  key: string
  deadlines: string
  records: string
  recent: string
  budgets: string
  /** `accountId:keyId`. */
  payer: string
  /** What the name of a hold begins with, before the hold's id. */
  holdPrefix: string
}

const CAPACITY = 4_096
const known = createBoundedMap<string, PayerNames>(CAPACITY)

/** The names of a payer. */
export function namesOf({ accountId, keyId }: Payer): PayerNames {
  const payer = `${accountId}:${keyId}`
  const present = known.get(payer)
  if (present) return present
  const shard = shardOf(accountId)
  const names = {
    shard,
    payer,
    account: accountName(accountId),
    key: keyName({ accountId, keyId }),
    meta: metaName(shard),
    deadlines: deadlinesName(shard),
    records: recordsName(shard),
    recent: recentName(accountId),
    budgets: budgetsName(accountId),
    holdPrefix: holdPrefix(accountId),
  }
  known.set(payer, names)
  return names
}

/** The name of a hold of this payer. */
export function holdOf(names: PayerNames, holdId: string): string {
  return names.holdPrefix + checkedId(holdId)
}
