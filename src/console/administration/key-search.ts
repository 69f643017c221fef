import type { Database } from '@/db/client'
import { type Page, type PageRequest, page } from '@/db/paging'
import type { KeyStatus } from '@/ledger/outcomes'
import { BY_VALUE_AND_ID, containing } from './keyset'

type KeySearch = PageRequest & {
  /** An id, a part of the name in any case, or the first or last characters of the key. Undefined: every key. */
  text?: string
  accountId?: string
  status?: KeyStatus
}

type FoundKey = {
  keyId: string
  accountId: string
  email: string
  name: string
  shown: string
  /** The last characters of the key's previous secret, and when that secret stops working. Null if there is none. */
  formerSecret: { lastFour: string; endsAt: string } | null
  status: KeyStatus
  createdAt: Date
  lastUsedAt: Date | null
}

type Row = Omit<FoundKey, 'createdAt' | 'lastUsedAt'> & {
  created_text: string
  created_ms: number
  used_ms: number | null
}

/** Finds API keys of all accounts, newest first: by id, part of the name, or shown characters of a secret. Includes deleted keys. */
export async function searchKeys({ sql }: Database, search: KeySearch): Promise<Page<FoundKey>> {
  const text = search.text?.trim() ?? ''
  const pattern = containing(text.toLowerCase())
  return await page(search, {
    checks: BY_VALUE_AND_ID,
    read: (after, limit) => sql<Row[]>`
    SELECT api_keys.id AS "keyId", account_id AS "accountId", email, api_keys.name, prefix || '…' || api_keys.last_four AS shown,
      (SELECT json_build_object('lastFour', f.last_four, 'endsAt', to_json(f.ends_at)) FROM key_secrets f
        WHERE f.key_id = api_keys.id AND f.ends_at > now() ORDER BY f.ordinal DESC LIMIT 1) AS "formerSecret",
      api_keys.status, api_keys.created_at::text AS created_text,
      floor(extract(epoch FROM api_keys.created_at) * 1000)::bigint AS created_ms,
      floor(extract(epoch FROM api_keys.last_used_at) * 1000)::bigint AS used_ms
    FROM api_keys JOIN accounts ON accounts.id = account_id
    WHERE true
      ${
        text === ''
          ? sql``
          : sql`AND (api_keys.id = ${text} OR lower(api_keys.name) LIKE ${pattern} OR prefix = ${text} OR api_keys.last_four = ${text}
        OR api_keys.id IN (SELECT key_id FROM key_secrets WHERE last_four = ${text} AND ends_at > now()))`
      }
      ${search.accountId === undefined ? sql`` : sql`AND account_id = ${search.accountId}`}
      ${search.status === undefined ? sql`` : sql`AND api_keys.status = ${search.status}`}
      ${after === undefined ? sql`` : sql`AND (api_keys.created_at, api_keys.id) < (${after[0]}::text::timestamptz, ${after[1]})`}
    ORDER BY api_keys.created_at DESC, api_keys.id DESC LIMIT ${limit}`,
    placeOf: (row) => [row.created_text, row.keyId],
    toItem: ({ created_text: _, created_ms: createdMs, used_ms: usedMs, ...key }) => ({
      ...key,
      createdAt: new Date(createdMs),
      lastUsedAt: usedMs === null ? null : new Date(usedMs),
    }),
  })
}
