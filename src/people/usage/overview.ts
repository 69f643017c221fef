/** The account at a glance: balance, spending, latency, and next steps. */
import { Type } from '@sinclair/typebox'
import { GatewayError } from '@/chat/error'
import { inUsd, exactUsd as usd } from '@/console/http/wire'
import type { UsageViews } from '@/console/usage-views/usage-views'
import { formatUsd } from '@/lib/money'
import { oneOf, orNull } from '@/lib/schemas'

const mean = (description: string) => orNull(Type.Number(), { description })

export const OverviewBody = Type.Object({
  balance: usd('Available and held together'),
  available: usd('What new requests can reserve'),
  held: usd('Reserved by open requests'),
  spentToday: usd('Since midnight UTC'),
  spentThisMonth: usd('Calendar month in UTC'),
  isSuspended: Type.Boolean(),
  requests: Type.Integer({ description: 'Charged requests of the last seven days' }),
  errors: Type.Integer({
    description: 'The failed ones: HTTP status 400 and above, except 499 (the client disconnected)',
  }),
  speed: Type.Object(
    {
      durationMs: mean('Milliseconds from arrival to the end'),
      firstTokenMs: mean('Milliseconds from arrival to the first content'),
      tokensPerSecond: mean('Output tokens per second once content has begun'),
    },
    { description: 'Means of the last seven days' },
  ),
  activeKeys: Type.Integer(),
  days: Type.Array(
    Type.Object({
      day: Type.String({ description: 'UTC, yyyy-mm-dd' }),
      model: Type.String(),
      cost: usd('Of this day and model'),
      requests: Type.Integer(),
    }),
    { description: 'The last thirty days including today; days without usage are omitted' },
  ),
  hint: Type.Object({
    level: oneOf(['ok', 'low', 'critical', 'empty']),
    daysLeft: mean('Days the balance lasts at the spending rate of the last seven days'),
  }),
  started: Type.Object({ hasKey: Type.Boolean(), hasCredit: Type.Boolean(), hasRequest: Type.Boolean() }),
  pendingRecords: Type.Integer({
    description:
      'Usage records that are in the balance but not yet in lists and charts, usually for less than a second',
  }),
})

/** The account's overview. Throws 404 for an unknown account. */
export async function readOverview(usage: UsageViews, accountId: string) {
  const found = await usage.overview(accountId)
  if (!found) throw new GatewayError('not_found', 'There is no such account.')
  const { balance, available, held, spentToday, spentThisMonth, days, ...rest } = found
  return {
    ...rest,
    ...inUsd({ balance, available, held, spentToday, spentThisMonth }),
    days: days.map((day) => ({ ...day, cost: formatUsd(day.cost) })),
  }
}
