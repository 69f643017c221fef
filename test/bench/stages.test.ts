/** Processor time of a request by stage: nothing counted twice or omitted, compared with a budget. */
import { describe, expect, test } from 'bun:test'
import budgetFile from '@bench/budget.json'
import { accountFor } from '@bench/stages/account'
import { type Budget, compareWithBudget, idleLines } from '@bench/stages/budget'
import { SERVER, STUBBED, WHOLE, WITH_LEDGER, WITH_UPSTREAM } from '@bench/stages/ladder'
import { type Piece, type Rounds, warmUp } from '@bench/stages/measure'
import { ANSWERED, HARNESS, RESERVE_AND_SETTLE, ROUTED } from '@bench/stages/pieces'
import { stagesTable } from '@bench/stages/report'

function measured(figures: Record<string, number>): Rounds {
  return new Map(Object.entries(figures).map(([name, value]) => [name, [value, value * 100, value]]))
}

const FIGURES = {
  ...{ [HARNESS]: 1, auth: 2, body: 4, log: 1, [ANSWERED]: 41, [ROUTED]: 43, [SERVER]: 7, [STUBBED]: 60 },
  ...{ [WITH_UPSTREAM]: 80, [RESERVE_AND_SETTLE]: 30, [WITH_LEDGER]: 115, [WHOLE]: 130, 'piece: decode': 50 },
}

describe('processor time by stage', () => {
  const stages = accountFor(measured(FIGURES), 1)
  const of = (name: string) => stages.find((stage) => stage.name.startsWith(name))?.microseconds

  test('the cost of creating a request object is subtracted from stages that created one', () => {
    expect(of('body')).toBe(3)
    expect(of(ANSWERED)).toBe(40)
    expect(of('routes')).toBe(2)
  })

  test('time that belongs to no measured stage gets its own row', () => {
    expect(of('server: what it adds')).toBe(60 - 42 - 7)
    expect(of('network of the upstream call')).toBe(20)
    expect(of('ledger: within')).toBe(115 - 80 - 30)
    expect(of('flusher')).toBe(15)
  })

  test('chunk stages are divided by the stream’s length, and figures are scaled if this machine is slower', () => {
    expect(of('piece: decode')).toBe(0.5)
    const slower = accountFor(measured(FIGURES), 2)
    expect(slower.find(({ name }) => name === WHOLE)?.microseconds).toBe(65)
  })
})

describe('the budget of stages', () => {
  const stage = (microseconds: number) => [{ name: 'log', microseconds, kind: 'part' }] as const
  const budget: Budget = { calibrationMicroseconds: 5, stages: { log: 10 } }
  const isOver = (microseconds: number) => compareWithBudget(stage(microseconds), budget)[0]?.isOver

  test('a stage may exceed its time budget by the noise of a run', () => {
    expect([9, 11.9, 12.1].map(isOver)).toEqual([false, false, true])
  })

  test('the budget ignores stages that it does not name, and reports names without a stage', () => {
    expect(compareWithBudget(stage(99), { ...budget, stages: {} })[0]).toMatchObject({
      allowed: undefined,
      isOver: false,
    })
    expect(idleLines(stage(1), { ...budget, stages: { log: 1, gone: 1 } })).toEqual(['gone'])
    expect(stagesTable(compareWithBudget(stage(20), budget))).toContain('| log | 20.0 | 10.0 | over |')
  })

  test('the committed budget names only existing stages', () => {
    const names = [
      'settler',
      'metrics',
      'piece: parse events',
      'piece: parse JSON',
      'piece: count',
      'piece: pass through',
    ]
    const figures = Object.fromEntries([...names, 'piece: encode in another format'].map((name) => [name, 1]))
    const stages = accountFor(measured({ ...FIGURES, ...figures }), 1)
    expect(idleLines(stages, budgetFile)).toEqual([])
  })
})

test('a benchmark stage is called often before it is measured, and its stub is removed afterwards', async () => {
  const seen: string[] = []
  let place = 'real'
  const stub = {
    begin: () => {
      place = 'stub'
    },
    end: () => {
      place = 'real'
    },
  }
  const piece: Piece = { name: 'one', run: () => seen.push(place), stub }
  await warmUp([piece])
  expect(seen.length).toBeGreaterThan(1_000)
  expect(new Set(seen)).toEqual(new Set(['stub']))
  expect(place).toBe('real')
})
