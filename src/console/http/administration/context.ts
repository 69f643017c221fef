/** Shared by administration routes: dependencies, the acting person, and schemas. */
import { type Static, Type } from '@sinclair/typebox'
import { GatewayError, invalidRequest } from '@/chat/error'
import type { Administration, MoneyRequest } from '@/console/administration/administration'
import type { Administrator } from '@/console/administration/administrator'
import type { Caller } from '@/console/http/changed-by'
import type { GuardDeps } from '@/console/http/guard'
import { NullableText } from '@/console/http/wire'
import { MAX_REASON_CHARS } from '@/console/orders/limits'
import type { Orders } from '@/console/orders/orders'
import type { UsageViews } from '@/console/usage-views/usage-views'
import { formatUsd, nano, parseUsd } from '@/lib/money'
import { oneOf } from '@/lib/schemas'

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

export const RepetitionKey = Type.String({
  minLength: 8,
  maxLength: 60,
  pattern: '^[A-Za-z0-9_-]+$',
  description: 'Chosen by the sender. A repeated request with the same key has no further effect.',
})

export const Id = Type.String({ minLength: 1, maxLength: 100, pattern: '^[A-Za-z0-9_-]+$' })
export const Usd = Type.String({ title: 'Usd', description: 'Decimal USD', examples: ['12.5'] })
export const UsdInput = Type.String({ minLength: 1, maxLength: 20, examples: ['12.5'], description: 'Decimal USD' })

export const MoneyAnswer = Type.Object({
  status: oneOf(['done', 'awaiting_approval'], {
    description: '`awaiting_approval`: above the limit, a second administrator has to agree.',
  }),
  approvalId: NullableText,
})

/** Requests an operation for the caller. Throws 404 if its subject does not exist, and 409 if it is refused. */
export async function requestMoney(
  deps: AdminDeps,
  by: Caller['by'],
  asked: MoneyRequest,
): Promise<Static<typeof MoneyAnswer>> {
  const outcome = await deps.administration.request(administratorOf(by), asked)
  switch (outcome.kind) {
    case 'done':
      return { status: 'done', approvalId: null }
    case 'awaiting_approval':
      return { status: 'awaiting_approval', approvalId: outcome.approvalId }
    case 'not_found':
      throw new GatewayError('not_found', 'It does not exist.')
    case 'refused':
      throw new GatewayError('conflict', outcome.message, { code: 'refused' })
  }
}

const NANO_PER_CENT = 10_000_000

/** Parses a positive amount of whole cents. Throws `invalid_request`. */
export function readCents(text: string, param: string, maximumCents: number): number {
  const amount = parseUsd(text)
  const cents = amount === undefined ? Number.NaN : amount / NANO_PER_CENT
  if (Number.isInteger(cents) && cents > 0 && cents <= maximumCents) return cents
  const maximum = formatUsd(nano(maximumCents * NANO_PER_CENT))
  throw invalidRequest(`${param}: must be an amount such as 12.50, above zero, at most ${maximum} USD.`, param)
}

/** Cents as USD text. */
export function centsText(cents: number): string {
  return formatUsd(nano(cents * NANO_PER_CENT))
}
