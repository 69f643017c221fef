/** Targets with weights: how often each comes first, and a fixed order within a conversation. */
import { expect, test } from 'bun:test'
import { createRandom } from '@test/fuzz/random'
import { modelOf, providerOf } from '@test/routing/world'
import { SEED } from '@test/support/seed'
import type { Model } from '@/catalog/types'
import { inTurn } from '@/routing/failover/target-turns'

const model = weighted('svc/alpha', 3, 1, undefined)
const other = weighted('svc/beta', undefined, 5)
const PLAN = { targets: [...planned(model), ...planned(other)], isWished: false }

function weighted(id: string, ...weights: (number | undefined)[]): Model {
  const made = modelOf(
    id,
    weights.map((_, index) => providerOf(`p${index}`)),
  )
  const targets = made.targets.map((target, index) => {
    const weight = weights[index]
    return { ...target, ...(weight !== undefined && { weight }) }
  })
  return { ...made, targets }
}

function planned(of: Model) {
  return of.targets.map((target) => ({ model: of, target }))
}

function namesOf(turns: ReturnType<typeof inTurn>): string {
  return turns.map(({ model: { id }, target }) => `${id.at(4)}${target.provider.name.at(1)}`).join(' ')
}

test('without a conversation, targets are ordered by weight at random; targets without a weight keep their place', () => {
  const random = createRandom(SEED).fraction
  const counts: Record<string, number> = {}
  for (let draw = 0; draw < 4000; draw++) {
    const order = namesOf(inTurn(PLAN, random))
    counts[order] = (counts[order] ?? 0) + 1
  }
  expect(Object.keys(counts).sort()).toEqual(['a0 a1 a2 b0 b1', 'a1 a0 a2 b0 b1'])
  expect((counts['a0 a1 a2 b0 b1'] ?? 0) / 4000).toBeCloseTo(0.75, 1)
})

test('a conversation keeps its order of targets, and conversations are distributed by the weights', () => {
  const never = () => expect.unreachable()
  let first = 0
  for (let index = 0; index < 4000; index++) {
    const order = namesOf(inTurn(PLAN, never, () => `conversation ${index}`))
    expect(namesOf(inTurn(PLAN, never, () => `conversation ${index}`))).toBe(order)
    if (order.startsWith('a0')) first++
  }
  expect(first / 4000).toBeCloseTo(0.75, 1)
})

test('if the caller or the catalogue sets an order of targets, it is kept', () => {
  const never = () => expect.unreachable()
  expect(inTurn({ ...PLAN, isWished: true }, never)).toBe(PLAN.targets)
  const plain = { targets: planned(modelOf('svc/alpha', [providerOf('p0'), providerOf('p1')])), isWished: false }
  expect(inTurn(plain, never, never)).toBe(plain.targets)
})
