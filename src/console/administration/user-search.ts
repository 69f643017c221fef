/** Finds people who may sign in, for operators: by part of the address or name, or by id, newest first. */
import type { UserRole } from '@/db/auth-schema'
import type { Database } from '@/db/client'
import { type Page, type PageRequest, page } from '@/db/paging'
import { BY_VALUE_AND_ID, containing } from './keyset'

type UserSearch = PageRequest & {
  /** Part of the address or name, in any case, or an id. Missing: everybody. */
  text?: string
  role?: UserRole
}

type FoundUser = {
  userId: string
  email: string
  name: string
  role: UserRole
  accountId: string | null
  isEmailVerified: boolean
  isTotpEnabled: boolean
  isDisabled: boolean
  /** Sessions that have not expired. */
  sessions: number
  createdAt: Date
}

type Row = Omit<FoundUser, 'createdAt'> & { created_text: string; created_ms: number }

export async function searchUsers({ sql }: Database, search: UserSearch): Promise<Page<FoundUser>> {
  const text = search.text?.trim() ?? ''
  const pattern = containing(text.toLowerCase())
  return await page(search, {
    checks: BY_VALUE_AND_ID,
    read: (after, limit) => sql<Row[]>`
    SELECT id AS "userId", email, name, role, account_id AS "accountId", email_verified AS "isEmailVerified",
      two_factor_enabled AS "isTotpEnabled", disabled_at IS NOT NULL AS "isDisabled",
      (SELECT count(*)::bigint FROM sessions WHERE user_id = users.id AND expires_at > now()) AS sessions,
      created_at::text AS created_text, floor(extract(epoch FROM created_at) * 1000)::bigint AS created_ms
    FROM users
    WHERE true
      ${text === '' ? sql`` : sql`AND (id = ${text} OR email LIKE ${pattern} OR lower(name) LIKE ${pattern})`}
      ${search.role === undefined ? sql`` : sql`AND role = ${search.role}`}
      ${after === undefined ? sql`` : sql`AND (created_at, id) < (${after[0]}::text::timestamptz, ${after[1]})`}
    ORDER BY created_at DESC, id DESC LIMIT ${limit}`,
    placeOf: (row) => [row.created_text, row.userId],
    toItem: ({ created_text: _, created_ms: createdMs, ...user }) => ({ ...user, createdAt: new Date(createdMs) }),
  })
}
