/** Data terms of providers and targets (retention, training, region): reads them from the catalogue file, and shows them. */
import { type Static, Type } from '@sinclair/typebox'
import { oneOf, orNull } from '@/lib/schemas'
import type { StatedTerms } from './schema'
import type { DataTerms, Model, Target } from './types'

/** The data terms of an entry. Terms that it omits are those of `base`; `unknown` removes a term of `base`. */
export function readDataTerms({ retention, trains, region }: StatedTerms, base: DataTerms = {}): DataTerms {
  const days = retention === undefined ? base.retentionDays : daysOf(retention)
  const isTraining = trains === undefined ? base.trains : trains
  const where = region ?? base.region
  return {
    ...(days !== undefined && { retentionDays: days }),
    ...(typeof isTraining === 'boolean' && { trains: isTraining }),
    ...(where !== undefined && { region: where }),
  }
}

function daysOf(retention: 'none' | 'unknown' | number): number | undefined {
  if (retention === 'unknown') return undefined
  return retention === 'none' ? 0 : retention
}

/** A provider's terms in the words of the catalogue file. */
export const ShownTerms = Type.Object(
  {
    provider: Type.String(),
    retention: Type.Union([oneOf(['none', 'unknown']), Type.Integer({ minimum: 1 })], {
      description: 'Days for which content is kept',
    }),
    trains: Type.Union([Type.Boolean(), Type.Literal('unknown')], {
      description: 'Whether models are trained on content',
    }),
    region: orNull(Type.String(), { description: 'Where content is processed; null if unknown' }),
  },
  { title: 'DataTerms' },
)

/** Each provider of `models` with its data terms. A provider whose targets differ has several entries. */
export function providersWithTerms(models: readonly Model[]): Static<typeof ShownTerms>[] {
  const rows = models.flatMap(({ targets }) => targets.map(rowOf))
  return [...new Map(rows.map((row) => [JSON.stringify(row), row])).values()]
}

/** A target's terms as text for a request's record, such as `retention none, trains false, region eu`. */
export function termsText(target: Target): string {
  const { retention, trains, region } = rowOf(target)
  return `retention ${retention}, trains ${trains}, region ${region ?? 'unknown'}`
}

function rowOf({ provider, data: { retentionDays, trains, region } = {} }: Target) {
  const retention = retentionDays === undefined ? 'unknown' : retentionDays || 'none'
  return { provider: provider.name, retention, trains: trains ?? 'unknown', region: region ?? null } as const
}
