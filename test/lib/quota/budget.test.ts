/** A limited resource that many subjects share: how much each gets, who waits, and in which order. */
import { describe, expect, test } from 'bun:test'
import { createBudget, type Lease } from '@/lib/quota/budget'

const SIZES = { perSubject: 10, total: 20, maxWaiting: 3, maxWaitingEach: 2, waitMs: 60_000 }

/** Takes at once. Throws if it would have to wait. */
function lease(taken: Lease | undefined | Promise<Lease | undefined>): Lease {
  if (!taken || taken instanceof Promise) throw new Error('there is no lease')
  return taken
}

describe('a shared resource', () => {
  test('a shared resource gives each subject its share, and all together the total; other requests wait', async () => {
    const budget = createBudget(SIZES)
    const mine = lease(budget.take('a', 10))
    const waits = budget.take('a', 1)
    expect(waits).toBeInstanceOf(Promise)
    const others = lease(budget.take('b', 10))
    expect(budget.takeNow('c', 1)).toBeUndefined()
    expect(budget.state()).toEqual({ used: 20, waiting: 1 })
    others.release()
    // What keeps it waiting is its own.
    expect(budget.state()).toEqual({ used: 10, waiting: 1 })
    mine.release()
    mine.release()
    expect(await waits).toBeDefined()
    expect(budget.state()).toEqual({ used: 1, waiting: 0 })
  })

  test('a subject without current use gets any amount of a shared resource', () => {
    const budget = createBudget(SIZES)
    lease(budget.take('a', 1_000)).release()
    expect(budget.state()).toEqual({ used: 0, waiting: 0 })
  })

  test('the subject with the smallest use goes first, and a later request does not overtake a waiting one for more', async () => {
    const budget = createBudget(SIZES)
    const whole = lease(budget.take('a', 8))
    lease(budget.take('b', 4))
    lease(budget.take('c', 7))
    const order: string[] = []
    const note = (name: string, amount: number) =>
      Promise.resolve(budget.take(name, amount)).then((taken) => taken && order.push(name))
    const waiting = [note('b', 6), note('d', 9)]
    expect(budget.takeNow('b', 1)).toBeUndefined()
    whole.release()
    await waiting[1]
    expect(order).toEqual(['d'])
    expect(budget.state()).toEqual({ used: 20, waiting: 1 })
  })

  test('queues for a shared resource are limited per subject and in total', () => {
    const budget = createBudget(SIZES)
    lease(budget.take('a', 10))
    lease(budget.take('b', 10))
    expect(['c', 'c', 'c', 'd', 'd'].map((name) => budget.take(name, 1) instanceof Promise)).toEqual([
      ...[true, true, false],
      ...[true, false],
    ])
  })

  test('a request for a shared resource waits at most the stated time', async () => {
    const budget = createBudget({ ...SIZES, waitMs: 1 })
    lease(budget.take('a', 10))
    expect(await budget.take('a', 5)).toBeUndefined()
    expect(budget.state()).toEqual({ used: 10, waiting: 0 })
  })

  test('a lease of a shared resource grows while there is room, and is returned completely', () => {
    const budget = createBudget(SIZES)
    const mine = lease(budget.take('a', 4))
    expect(mine.grow(6)).toBe(true)
    expect(lease(budget.take('b', 10)).grow(1)).toBe(false)
    expect(mine.grow(1)).toBe(false)
    mine.release()
    expect(budget.state()).toEqual({ used: 10, waiting: 0 })
  })
})
