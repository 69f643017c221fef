/** Plain sums of the traffic, which allocate no memory for a known lane and become metrics when read. */
import type { Usage } from '@/chat/usage'
import type { Ending } from '@/ledger/charge'
import {
  BILLING_RULES,
  type BillingRule,
  COUNT_GAPS,
  type CountGap,
  RECORD_FLAGS,
  type RecordFlag,
} from '@/ledger/usage-record'
import { bornEndings, type LaneNames, NO_PROVIDER } from './born-series'
import type { EndedAnswer } from './ended-answer'

/** The sums of one lane: one client format, model and provider, with catalogue names. */
type Lane = {
  format: string
  model: string
  provider: string
  /** Numbers of requests by HTTP status and ending. Combinations that may still occur have 0. */
  requests: Map<number, Partial<Record<Ending, number>>>
  tokens: Usage
  costNano: number
  /** The provider's known charges, and the part of `costNano` with an unknown provider charge. */
  providerCostNano: number
  uncostedNano: number
  gaps: Record<CountGap, number>
  /** Complete answers for which the provider stated more tokens than were charged. */
  soldShort: number
}

type ChargeRule = BillingRule | 'free'

export interface TrafficTotals {
  /** Adds these lanes, starting at zero. */
  open(lanes: readonly LaneNames[]): void
  answered(request: EndedAnswer): void
  /** `model` must be a catalogue name. */
  refused(format: string, model: string, status: number): void
  flagged(flag: RecordFlag, count: number): void
  lanes(): Iterable<Lane>
  readonly rules: Readonly<Record<ChargeRule, number>>
  readonly flags: Readonly<Record<RecordFlag, number>>
}

/** Creates empty totals. */
export function createTrafficTotals(): TrafficTotals {
  const byFormat = new Map<string, Map<string, Map<string, Lane>>>()
  const all: Lane[] = []
  const rules = zeros<ChargeRule>([...BILLING_RULES, 'free'])
  const flags = zeros<RecordFlag>(RECORD_FLAGS)

  function laneOf(format: string, model: string, provider: string): Lane {
    return byFormat.get(format)?.get(model)?.get(provider) ?? newLane(format, model, provider)
  }

  function newLane(format: string, model: string, provider: string): Lane {
    const byModel = entryOf(byFormat, format, () => new Map<string, Map<string, Lane>>())
    const lane = openLane(format, model, provider)
    entryOf(byModel, model, () => new Map<string, Lane>()).set(provider, lane)
    all.push(lane)
    return lane
  }

  return {
    open(lanes) {
      for (const { format, model, provider } of lanes) laneOf(format, model, provider)
    },
    answered({ format, model, provider, status, ending, charge, providerCost, counts }) {
      const lane = laneOf(format, model, provider)
      count(lane, status, ending)
      lane.providerCostNano += providerCost ?? 0
      if (counts) for (const gap of counts.gaps) lane.gaps[gap]++
      if (charge.kind === 'free') {
        rules.free++
        return
      }
      rules[charge.rule]++
      for (const flag of charge.flags) flags[flag]++
      if (ending === 'complete' && charge.flags.includes('clamped')) lane.soldShort++
      lane.costNano += charge.cost
      if (providerCost === undefined) lane.uncostedNano += charge.cost
      addUsage(lane.tokens, charge.usage)
    },
    refused: (format, model, status) => count(laneOf(format, model, NO_PROVIDER), status, 'refused'),
    flagged(flag, added) {
      flags[flag] += added
    },
    lanes: () => all,
    rules,
    flags,
  }
}

function openLane(format: string, model: string, provider: string): Lane {
  const tokens = { uncached: 0, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 0, reasoning: 0 }
  const gaps = zeros<CountGap>(COUNT_GAPS)
  const requests: Lane['requests'] = new Map()
  for (const [status, ending] of bornEndings({ format, model, provider }))
    entryOf(requests, status, noEndings)[ending] = 0
  return {
    format,
    model,
    provider,
    requests,
    tokens,
    costNano: 0,
    providerCostNano: 0,
    uncostedNano: 0,
    gaps,
    soldShort: 0,
  }
}

function count(lane: Lane, status: number, ending: Ending): void {
  const endings = entryOf(lane.requests, status, noEndings)
  endings[ending] = (endings[ending] ?? 0) + 1
}

function noEndings(): Partial<Record<Ending, number>> {
  return {}
}

function addUsage(sum: Usage, usage: Usage): void {
  sum.uncached += usage.uncached
  sum.cacheRead += usage.cacheRead
  sum.cacheWrite5m += usage.cacheWrite5m
  sum.cacheWrite1h += usage.cacheWrite1h
  sum.output += usage.output
  sum.reasoning += usage.reasoning
}

/** The entry of `key`, created if missing. */
export function entryOf<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}

function zeros<K extends string>(names: readonly K[]): Record<K, number> {
  return Object.fromEntries(names.map((name) => [name, 0])) as Record<K, number>
}
