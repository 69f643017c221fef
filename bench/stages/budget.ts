/** What each stage may cost: committed numbers, on the machine whose calibration stands beside them. */
import type { Stage } from './account'

export type Budget = {
  /** Microseconds that the calibration took on the machine that the budget is for. */
  calibrationMicroseconds: number
  /** Microseconds by the name of a stage. */
  stages: Record<string, number>
}

export type BudgetLine = Stage & { allowed: number | undefined; isOver: boolean }

/** Beyond its budget by less than this, a stage may just have been disturbed. */
const TOLERANCE = 0.2
const TOLERATED_MICROSECONDS = 1

/** Sets each stage beside what it may cost. */
export function compareWithBudget(stages: readonly Stage[], budget: Budget): BudgetLine[] {
  return stages.map((stage) => {
    const allowed = budget.stages[stage.name]
    const limit =
      allowed === undefined ? undefined : Math.max(allowed * (1 + TOLERANCE), allowed + TOLERATED_MICROSECONDS)
    return { ...stage, allowed, isOver: limit !== undefined && stage.microseconds > limit }
  })
}

/** Names in the budget that no stage has: a budget for nothing. */
export function idleLines(stages: readonly Stage[], budget: Budget): string[] {
  const names = new Set(stages.map(({ name }) => name))
  return Object.keys(budget.stages).filter((name) => !names.has(name))
}
