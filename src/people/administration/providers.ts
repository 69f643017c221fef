/** The administrators' operations on providers: test calls, margins by model and day, and requests that providers count differently. */
import { Type } from '@sinclair/typebox'
import { ProviderNameSchema } from '@/catalog/schema'
import { GatewayError } from '@/chat/error'
import { PAGE, wholeNumber } from '@/console/http/pages'
import { listOf, mapPage, NullableText } from '@/console/http/wire'
import { CHARGE_BASES } from '@/ledger/charge-basis'
import { COUNT_GAPS } from '@/ledger/usage-record'
import { formatUsd } from '@/lib/money'
import { oneOf, orNull } from '@/lib/schemas'
import { administrationOver } from '@/people/operation'
import { MAX_MARGIN_DAYS } from '@/usage/margins'
import { type AdminDeps, administratorOf, Id, MARGIN_SUMS, NullableUsd, Usd } from './context'

const Count = Type.Integer({ minimum: 0 })

const MARGIN = {
  ...MARGIN_SUMS,
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

const operation = administrationOver<AdminDeps>()

const margins = operation('margin.list', 'GET /margins', 'administrator', {
  summary: 'Get margins by model and day',
  description: 'Charges, providers’ costs, and margins. For administrators.',
  takes: Type.Object({
    days: Type.Optional(wholeNumber('days', { minimum: 1, maximum: MAX_MARGIN_DAYS, default: 30 })),
  }),
  gives: MarginsBody,
  run: ({ deps }, { days }) => deps.administration.margins(days ?? 30),
})

const gaps = operation('count_gap.list', 'GET /count-gaps', 'administrator', {
  summary: 'List answers that provider and gateway count differently',
  description: 'By a factor above two, or beyond what was charged; newest first. For administrators.',
  takes: GapQuery,
  gives: listOf(GapBody),
  run: async ({ deps }, query) =>
    mapPage(await deps.administration.searchCountGaps(query), ({ atMs, cost, providerCost, ...item }) => ({
      ...item,
      at: new Date(atMs).toISOString(),
      cost: formatUsd(cost),
      providerCost: providerCost === null ? null : formatUsd(providerCost),
    })),
})

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

const tryOne = operation('provider.test', 'POST /providers/:provider/test', 'administrator', {
  summary: 'Try a provider',
  description: 'Sends small requests, which the provider charges for. For administrators.',
  names: { provider: ProviderNameSchema },
  gives: TrialsBody,
  async run({ deps, by, params }) {
    const trials = await deps.administration.tryProvider(administratorOf(by), params.provider)
    if (!trials) throw new GatewayError('not_found', 'There is no such provider.')
    const targets = trials.map(({ cost, ...trial }) => ({ ...trial, costUsd: cost === null ? null : formatUsd(cost) }))
    return { at: new Date().toISOString(), targets }
  },
})

export const PROVIDER_ADMINISTRATION = [margins, gaps, tryOne] as const
