/** Administrators' routes for providers: test calls, margins by model and day, and records whose counts differ from ours. */
import { Type } from '@sinclair/typebox'
import { ProviderNameSchema } from '@/catalog/schema'
import { GatewayError } from '@/chat/error'
import { guarded } from '@/console/http/guard'
import { PAGE, wholeNumber } from '@/console/http/pages'
import { listOf, mapPage, NoFields, NullableText } from '@/console/http/wire'
import { CHARGE_BASES } from '@/ledger/charge-basis'
import { COUNT_GAPS } from '@/ledger/usage-record'
import { formatUsd } from '@/lib/money'
import { oneOf, orNull } from '@/lib/schemas'
import { MAX_MARGIN_DAYS } from '@/usage/margins'
import { ADMIN_PREFIX, type AdminDeps, administratorOf, Id, Usd } from './context'

const Count = Type.Integer({ minimum: 0 })
const NullableUsd = Type.Union([Usd, Type.Null({ description: 'Not known' })])

const MARGIN = {
  requests: Count,
  charged: Usd,
  cost: NullableUsd,
  margin: NullableUsd,
  uncosted: Type.String({ description: 'USD charged with an unknown cost; not part of the margin' }),
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
  return guarded(deps, 'admin-bill-routes', ADMIN_PREFIX, 'Administration')
    .get('/margins', ({ query }) => administration.margins(query.days ?? 30), {
      administrator: true,
      query: Type.Object({
        days: Type.Optional(wholeNumber('days', { minimum: 1, maximum: MAX_MARGIN_DAYS, default: 30 })),
      }),
      response: MarginsBody,
      detail: {
        summary: 'Get margins by model and day',
        description: 'Charges, providers’ costs, and margins. For administrators.',
      },
    })
    .get(
      '/count-gaps',
      async ({ query }) =>
        mapPage(await administration.searchCountGaps(query), ({ atMs, cost, providerCost, ...item }) => ({
          ...item,
          at: new Date(atMs).toISOString(),
          cost: formatUsd(cost),
          providerCost: providerCost === null ? null : formatUsd(providerCost),
        })),
      {
        administrator: true,
        query: GapQuery,
        response: listOf(GapBody),
        detail: {
          summary: 'List answers that provider and gateway count differently',
          description: 'By a factor above two, or beyond what was charged; newest first. For administrators.',
        },
      },
    )
}

const Verdict = oneOf(['works', 'fails', 'untried'], { title: 'TrialVerdict' })

const TrialsBody = Type.Object({
  at: Type.String(),
  targets: Type.Array(
    Type.Object({
      model: Type.String(),
      target: Type.String(),
      text: Verdict,
      stream: Verdict,
      tools: Verdict,
      images: Verdict,
      schema: Verdict,
      usage: Verdict,
      firstTokenMs: orNull(Type.Number()),
      costUsd: NullableText,
      faults: Type.Array(Type.Object({ of: Type.String(), why: Type.String() })),
    }),
  ),
})

/** Mounts `/dashboard/api/admin/providers/:provider/test`. */
export function adminProviderRoutes(deps: AdminDeps) {
  return guarded(deps, 'admin-provider-routes', `${ADMIN_PREFIX}/providers`, 'Administration').post(
    '/:provider/test',
    async ({ params: { provider }, by }) => {
      const trials = await deps.administration.tryProvider(administratorOf(by), provider)
      if (!trials) throw new GatewayError('not_found', 'There is no such provider.')
      return {
        at: new Date().toISOString(),
        targets: trials.map(({ cost, ...trial }) => ({
          ...trial,
          costUsd: cost === null ? null : formatUsd(cost),
        })),
      }
    },
    {
      administrator: true,
      params: Type.Object({ provider: ProviderNameSchema }),
      body: NoFields,
      response: TrialsBody,
      detail: {
        summary: 'Try a provider',
        description: 'Sends small requests, which the provider charges for. For administrators.',
      },
    },
  )
}
