/** Differing counts and the reasons of charges in the words of an operator. */
import type { Gap, GapRecord } from './margins-data'

export const GAP_WORDS: Readonly<Record<NonNullable<Gap>, string>> = {
  input_over: 'More input than counted here',
  input_under: 'Less input than counted here',
  output_over: 'More output than counted here',
  output_under: 'Less output than counted here',
  clamped: 'More than was charged',
}

export const BASIS_WORDS: Readonly<Record<GapRecord['basis'], string>> = {
  provider: "the provider's counts",
  unpriced: "the provider's counts, but for a class without a price",
  reclassified: "the provider's counts, writes to its cache at the price of an hour",
  relayed: 'what was relayed, beyond an early count of the provider',
  counted: 'our own count',
  forgiven: 'nothing, as a client that left before the first byte',
  clamped: 'no more than was possible',
  expired: 'what was last recorded',
  late: 'the difference to an expired charge',
  unreadable: 'what the ledger had charged',
}

/** A newer gateway may know more reasons than this page. */
export function gapWords(gap: string): string {
  return (GAP_WORDS as Readonly<Record<string, string>>)[gap] ?? gap
}
