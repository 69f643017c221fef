/** The step after a failed attempt, for each class of fault. */
import { describe, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import { providerError } from '@/formats/provider-error'
import { type AttemptState, BACK_OFF_MS, MAX_ATTEMPTS, MAX_PAUSE_MS, nextStep } from '@/routing/failover/attempt-policy'
import type { AttemptFault } from '@/routing/failover/fault-class'

function refused(status: number, message = '', kind = '', retryAfterSeconds?: number): AttemptFault {
  const error = providerError({ status, kind, message, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) })
  return { kind: 'refused', error }
}

const FIRST: AttemptState = {
  attemptsHere: 1,
  attemptsInAll: 1,
  hasOtherKey: false,
  hasAlternative: true,
  hasOwnFallback: false,
  isAdmitted: true,
  remainingMs: 600_000,
  patienceMs: 1_000,
}
const GENEROUS = { random: () => 0.5, takeRetry: () => true }
const EMPTY_BUDGET = { random: () => 0.5, takeRetry: () => false }
const TIMEOUT: AttemptFault = { kind: 'timeout', phase: 'first-byte' }

describe('nextStep', () => {
  test('the pause before a retry is random, between half of the maximum and the maximum', () => {
    const pauseAt = (random: number) => nextStep(refused(500), FIRST, { random: () => random, takeRetry: () => true })
    expect(pauseAt(0)).toEqual({ kind: 'retry-same', delayMs: BACK_OFF_MS / 2 })
    expect(pauseAt(0.999)).toMatchObject({ kind: 'retry-same' })
    expect((pauseAt(0.999) as { delayMs: number }).delayMs).toBeLessThanOrEqual(BACK_OFF_MS)
  })

  test('a short retry-after is waited for; a long one leads to the next target', () => {
    expect(nextStep(refused(503, '', '', 1), FIRST, GENEROUS)).toEqual({ kind: 'retry-same', delayMs: 1_000 })
    expect(nextStep(refused(503, '', '', MAX_PAUSE_MS / 1000 + 1), FIRST, GENEROUS)).toEqual({ kind: 'next-target' })
  })

  test('there is no retry if the retry limit is used up, or the circuit has just opened', () => {
    expect(nextStep(refused(500), FIRST, EMPTY_BUDGET)).toEqual({ kind: 'next-target' })
    expect(nextStep(refused(500), { ...FIRST, isAdmitted: false }, GENEROUS)).toEqual({ kind: 'next-target' })
    const alone = { ...FIRST, isAdmitted: false, hasAlternative: false }
    expect(nextStep(refused(500), alone, GENEROUS).kind).toBe('retry-same')
  })

  test('after a silence, a retry must leave time for another target', () => {
    const tight = { ...FIRST, patienceMs: 300_000, remainingMs: 400_000 }
    expect(nextStep(TIMEOUT, tight, GENEROUS)).toEqual({ kind: 'next-target' })
    expect(nextStep(TIMEOUT, { ...tight, hasAlternative: false }, GENEROUS).kind).toBe('retry-same')
    expect(nextStep(refused(500), tight, GENEROUS).kind).toBe('retry-same')
  })

  test('after an ambiguous refusal, the next step is one other key, then the next target', () => {
    const other = { ...FIRST, hasOtherKey: true }
    expect(nextStep(refused(403), other, GENEROUS)).toEqual({ kind: 'next-key' })
    expect(nextStep(refused(403), { ...other, attemptsHere: 2 }, GENEROUS)).toEqual({ kind: 'next-target' })
    expect(nextStep(refused(403), FIRST, GENEROUS)).toEqual({ kind: 'next-target' })
  })

  test('after the deadline or the maximum of attempts, no attempt follows', () => {
    expect(nextStep(refused(500), { ...FIRST, remainingMs: 0 }, GENEROUS)).toEqual({ kind: 'stop' })
    expect(nextStep(refused(429), { ...FIRST, attemptsInAll: MAX_ATTEMPTS, hasOtherKey: true }, GENEROUS)).toEqual({
      kind: 'stop',
    })
  })

  test('no pause is longer than the remaining time', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 400, max: 599 }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        fc.integer({ min: 1, max: 5_000 }),
        fc.option(fc.integer({ min: 0, max: 5 }), { nil: undefined }),
        (status, random, remainingMs, retryAfter) => {
          const step = nextStep(
            refused(status, '', '', retryAfter),
            { ...FIRST, remainingMs },
            { ...GENEROUS, random: () => random },
          )
          if (step.kind === 'retry-same') expect(step.delayMs).toBeLessThan(remainingMs)
        },
      ),
    )
  })
})
