import type { Database } from '@/db/client'
import type { Reminder } from './look'

/** A shorter overlap gets no mail: the user is expected to replace the secret at once. */
const LEAST_OVERLAP = '1 hour'
/** The reminder is sent a quarter of the overlap before the secret's end, but no earlier than this before it. */
const LONGEST_LEAD = '24 hours'
const ROUND_SIZE = 100

type UsedSecret = {
  keyId: string
  accountId: string
  accountName: string
  name: string
  owner: string | null
  lastFour: string
  lastUsedMs: number
  endMs: number
}

/** Finds rotated-out key secrets that expire soon and were recently used (within a quarter of the overlap). One reminder each. */
export async function endingSecrets({ sql }: Database, nowMs: number): Promise<Reminder[]> {
  const now = new Date(nowMs).toISOString()
  const secrets = await sql<UsedSecret[]>`
    SELECT k.id AS "keyId", k.account_id AS "accountId", a.name AS "accountName", k.name, k.created_by AS owner,
      s.last_four AS "lastFour", floor(extract(epoch FROM s.last_used_at) * 1000)::bigint AS "lastUsedMs",
      floor(extract(epoch FROM s.ends_at) * 1000)::bigint AS "endMs"
    FROM key_secrets s JOIN api_keys k ON k.id = s.key_id JOIN accounts a ON a.id = k.account_id
    WHERE s.ends_at > ${now}::text::timestamptz AND s.ends_at <= ${now}::text::timestamptz + ${LONGEST_LEAD}::text::interval
      AND s.ends_at <= ${now}::text::timestamptz + (s.ends_at - s.created_at) / 4
      AND s.ends_at - s.created_at >= ${LEAST_OVERLAP}::text::interval
      AND s.last_used_at > ${now}::text::timestamptz - (s.ends_at - s.created_at) / 4
      AND k.status = 'active'
      AND NOT EXISTS (SELECT FROM alert_states t WHERE t.account_id = k.account_id AND t.name = 'former_secret:' || k.id
        AND t.mark = floor(extract(epoch FROM s.ends_at) * 1000)::bigint)
    LIMIT ${ROUND_SIZE}`
  return secrets.map(({ keyId, accountId, accountName, name: keyName, owner, lastFour, lastUsedMs, endMs }) => {
    const facts = {
      ...{ accountId, accountName, keyId, keyName, lastFour },
      ...{ endsAt: new Date(endMs).toISOString(), lastUsedAt: new Date(lastUsedMs).toISOString() },
    }
    const state = { accountId, name: `former_secret:${keyId}`, mark: endMs, level: 0 }
    return { ...state, alert: { mail: { kind: 'former_key_ends', facts }, memberId: owner } }
  })
}
