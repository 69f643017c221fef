/** Classifies why a charge equals the price of the provider's counts or differs from it, as one value per usage record. */
import type { UsageRecord } from './usage-record'

export const CHARGE_BASES = [
  'provider', // the price of the provider's own counts, to the nano-USD
  'unpriced', // likewise, but the provider also counted tokens of a kind that has no price here
  'reclassified', // the provider's counts; cache writes reported as one sum have the price of one-hour writes, as requested
  'relayed', // the provider's last counts came before the end: our count of the relayed output, if that is more
  'counted', // the provider sent no counts: our own count
  'forgiven', // no charge: the client disconnected before the first byte, and a few such disconnects are free
  'clamped', // the provider counted more than the request can use, or more than the hold could pay
  'expired', // the gateway died: the cost at the hold's last renewal, at least the input's, at most the hold
  'late', // corrects the charge of an expired hold: the difference to the right charge
  'unreadable', // the record's details were lost: the amount that the ledger had charged
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
