/** Shared by administration routes: dependencies, the acting person, and schemas. */
import { Type } from '@sinclair/typebox'
import type { Administration } from '@/console/administration/administration'
import type { Administrator } from '@/console/administration/administrator'
import type { Caller } from '@/console/http/changed-by'
import type { GuardDeps } from '@/console/http/guard'
import { MAX_REASON_CHARS } from '@/console/orders/limits'
import type { Orders } from '@/console/orders/orders'
import type { UsageViews } from '@/console/usage-views/usage-views'

export type AdminDeps = GuardDeps & {
  administration: Administration
  orders: Orders
  usage: UsageViews
}

export const ADMIN_PREFIX = '/dashboard/api/admin'

/** The administrator of a request, for the audit log. */
export function administratorOf({ actor, ip, requestId }: Caller['by']): Administrator {
  return { ...actor, ip, requestId }
}

export const Reason = Type.String({
  minLength: 3,
  maxLength: MAX_REASON_CHARS,
  pattern: '\\S',
  description: 'The reason, for the audit log.',
})

export const Id = Type.String({ minLength: 1, maxLength: 100, pattern: '^[A-Za-z0-9_-]+$' })
export const Usd = Type.String({ title: 'Usd', description: 'Decimal USD', examples: ['12.5'] })
export const NullableUsd = Type.Union([Usd, Type.Null({ description: 'Not known' })])
export const UsdInput = Type.String({ minLength: 1, maxLength: 20, examples: ['12.5'], description: 'Decimal USD' })

/** The path parameter with the account's id. */
export const OF_ACCOUNT = { accountId: Id }

/** The fields of a margin: requests, charges to customers, and the operator's cost at providers. */
export const MARGIN_SUMS = {
  requests: Type.Integer({ minimum: 0 }),
  charged: Usd,
  cost: NullableUsd,
  margin: NullableUsd,
}
