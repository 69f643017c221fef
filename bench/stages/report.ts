/** `bun run bench --stages`: measures, prints each stage beside what it may cost, and says which cost more. */
import { join } from 'node:path'
import { number } from '@bench/report/markdown'
import type { Stage } from './account'
import { type Budget, type BudgetLine, compareWithBudget, idleLines } from './budget'
import { measureStages } from './run'

const BUDGET = join(import.meta.dir, '..', 'budget.json')

/** Runs it; false where a stage is over its budget. */
export async function reportStages(rounds: number, say: (line: string) => void): Promise<boolean> {
  const budget = (await Bun.file(BUDGET).json()) as Budget
  const { stages, calibrationMicroseconds } = await measureStages(rounds, budget.calibrationMicroseconds, say)
  const lines = compareWithBudget(stages, budget)
  say(`\n${stagesTable(lines)}\n`)
  const slowness = calibrationMicroseconds / budget.calibrationMicroseconds
  say(`Microseconds on the machine of the budget; this one took ${number(slowness)} times as long just now.`)
  for (const name of idleLines(stages, budget)) say(`The budget names a stage that there is not: ${name}`)
  const over = lines.filter(({ isOver }) => isOver)
  if (over.length > 0) say(`Over budget: ${over.map(describe).join('; ')}`)
  return over.length === 0
}

/** One line per stage; the sums of those above them stand out. */
export function stagesTable(lines: readonly BudgetLine[]): string {
  const rows = lines.map(({ name, microseconds, kind, allowed, isOver }) => {
    const title = kind === 'sum' ? `**${name}**` : name
    const budget = allowed === undefined ? '–' : number(allowed)
    return `| ${title} | ${number(microseconds)} | ${budget} | ${isOver ? 'over' : ''} |`
  })
  return ['| stage | CPU µs | budget | |', '|---|---:|---:|---|', ...rows].join('\n')
}

function describe({ name, microseconds, allowed }: Stage & { allowed: number | undefined }): string {
  return `${name} (${number(microseconds)} of ${number(allowed ?? 0)} µs)`
}
