/** Classifies why a charge equals the price of the provider's counts or differs from it, as one value per usage record. */
import type { UsageRecord } from './usage-record'

export const CHARGE_BASES = [
  'provider', // the price of the provider's own counts, to the nano-USD
  'unpriced', // likewise, but the provider also counted tokens in a class that has no price here
  'reclassified', // the provider's counts, but writes to a cache, told in one sum, are those of an hour, as was asked for
  'relayed', // the provider's last word came before the end: our count of the output relayed, where that is more
  'counted', // the provider said nothing: our own count
  'forgiven', // nothing: the client left before the first byte, and it is one of a few that are free
  'clamped', // the provider said more than the request could have used, or the hold could pay
  'expired', // the gateway died: what its last renewal recorded, at least the input, at most what was held
  'late', // a correction of what expired: the difference to the charge as it should have been
  'unreadable', // the record's details were lost: what the ledger had charged
] as const
export type ChargeBasis = (typeof CHARGE_BASES)[number]

const COUNTED_RULES: ReadonlySet<string> = new Set([
  'counted',
  'cut_counted',
  'broken_counted',
  'disconnect_counted',
  'hangup_input',
])

/** The rule that determined the charge; with several, the one with the largest effect. */
export function chargeBasis({ kind, facts }: Pick<UsageRecord, 'kind' | 'facts'>): ChargeBasis {
  if (kind === 'late') return 'late'
  const { rule, flags } = facts
  if (kind === 'expire' || rule === 'expired') return 'expired'
  if (rule === 'unreadable') return 'unreadable'
  if (rule === 'hangup_free') return 'forgiven'
  if (flags.includes('clamped')) return 'clamped'
  if (COUNTED_RULES.has(rule)) return 'counted'
  if (flags.includes('estimated')) return 'relayed'
  if (facts.isReclassified) return 'reclassified'
  return facts.hasUnpricedUsage ? 'unpriced' : 'provider'
}
