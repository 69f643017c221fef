/** Ratios of an earlier run that a later one is held against. Absolute figures differ between machines; ratios hardly do. */
import { isAsGood, type Standing } from './goals'

export type Baseline = {
  at: string
  processor: string
  bun: string
  /** Medians by the id of a goal. */
  medians: Record<string, number>
}

/** What became of one ratio. */
export type Comparison = { id: string; title: string; before: number; now: number; isWorse: boolean }

/** What a run on the same code may differ by without anything having changed. */
const TOLERANCE = 0.25

/** What to keep of a run. */
export function baselineOf(
  standings: readonly Standing[],
  machine: { at: string; processor: string; bun: string },
): Baseline {
  const medians: Record<string, number> = {}
  for (const { goal, spread } of standings) if (spread) medians[goal.id] = Number(spread.median.toPrecision(4))
  return { at: machine.at, processor: machine.processor, bun: machine.bun, medians }
}

/** Compares what both know. Only ratios: absolute figures of another machine say nothing. */
export function compare(baseline: Baseline, standings: readonly Standing[]): Comparison[] {
  return standings.flatMap(({ goal, spread }) => {
    const before = baseline.medians[goal.id]
    if (before === undefined || !spread || goal.beside === undefined) return []
    const now = spread.median
    const allowed = goal.better === 'lower' ? before * (1 + TOLERANCE) : before / (1 + TOLERANCE)
    return [{ id: goal.id, title: goal.title, before, now, isWorse: !isAsGood(goal, now, allowed) }]
  })
}
