/** The routes of the providers' side of the bill: margins by model and day, and the records whose counts differ from ours. */
import { Type } from '@sinclair/typebox'
import { Elysia, t } from 'elysia'
import { guard } from '@/console/http/guard'
import { PAGE } from '@/console/http/pages'
import { CHARGE_BASES } from '@/ledger/charge-basis'
import { COUNT_GAPS } from '@/ledger/usage-record'
import { formatUsd } from '@/lib/money'
import { oneOf } from '@/lib/schemas'
import { MAX_MARGIN_DAYS } from '@/usage/margins'
import { ADMIN_PREFIX, type AdminDeps, Id, NullableText, Usd } from './context'

const Count = Type.Integer({ minimum: 0 })
const NullableUsd = Type.Union([Usd, Type.Null({ description: 'Not known' })])

const MARGIN = {
  requests: Count,
  charged: Usd,
  cost: NullableUsd,
  margin: NullableUsd,
  uncosted: Type.String({ description: 'USD charged where the cost is not known; in no margin' }),
  thrownAwayCalls: Count,
  thrownAway: Usd,
}

const MarginsBody = Type.Object({
  from: Type.String({ description: 'The first day, UTC' }),
  total: Type.Object(MARGIN),
  models: Type.Array(Type.Object({ model: Type.String(), ...MARGIN })),
  days: Type.Array(Type.Object({ day: Type.String(), model: Type.String(), ...MARGIN })),
})

const GapBody = Type.Object({
  requestId: Type.String(),
  accountId: Type.String(),
  at: Type.String(),
  model: Type.String(),
  provider: Type.String(),
  upstreamModel: Type.String(),
  gaps: Type.Array(Type.String({ examples: [...COUNT_GAPS] })),
  providerInput: Count,
  providerOutput: Count,
  localInput: Count,
  localOutput: Count,
  basis: oneOf(CHARGE_BASES),
  cost: Usd,
  providerCost: NullableUsd,
})

const GapQuery = Type.Object({
  gap: Type.Optional(oneOf(COUNT_GAPS)),
  accountId: Type.Optional(Id),
  provider: Type.Optional(Id),
  ...PAGE,
})

/** Mounts `/dashboard/api/admin/margins` and `/dashboard/api/admin/count-gaps`. */
export function adminBillRoutes(deps: AdminDeps) {
  const { administration } = deps
  return new Elysia({ name: 'admin-bill-routes', prefix: ADMIN_PREFIX, tags: ['Administration'] })
    .use(guard(deps))
    .get('/margins', ({ query }) => administration.margins(query.days ?? 30), {
      administrator: true,
      query: Type.Object({
        days: Type.Optional(t.Numeric({ minimum: 1, maximum: MAX_MARGIN_DAYS, multipleOf: 1, default: 30 })),
      }),
      response: MarginsBody,
      detail: {
        summary: 'Get margins by model and day',
        description: 'What was charged, what providers ask for it, and what is left. For administrators.',
      },
    })
    .get(
      '/count-gaps',
      async ({ query }) => {
        const page = await administration.searchCountGaps(query)
        return {
          ...page,
          items: page.items.map(({ atMs, cost, providerCost, ...item }) => ({
            ...item,
            at: new Date(atMs).toISOString(),
            cost: formatUsd(cost),
            providerCost: providerCost === null ? null : formatUsd(providerCost),
          })),
        }
      },
      {
        administrator: true,
        query: GapQuery,
        response: Type.Object({ items: Type.Array(GapBody), nextCursor: NullableText }),
        detail: {
          summary: 'List answers that provider and gateway count differently',
          description: 'By a factor above two, or beyond what was charged; newest first. For administrators.',
        },
      },
    )
}
