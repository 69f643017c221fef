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
  test('after a network error or 5xx, the next step is the same target after a random pause, then the next target', () => {
    for (const fault of [{ kind: 'unreachable' } as const, refused(500)]) {
      expect(nextStep(fault, FIRST, GENEROUS)).toEqual({ kind: 'retry-same', delayMs: BACK_OFF_MS * 0.75 })
      expect(nextStep(fault, { ...FIRST, attemptsHere: 2 }, GENEROUS)).toEqual({ kind: 'next-target' })
    }
  })

  test('after a timeout, the next step is the next target, or the same target once more if it is the only one', () => {
    expect(nextStep(TIMEOUT, FIRST, GENEROUS)).toEqual({ kind: 'next-target' })
    expect(nextStep(TIMEOUT, { ...FIRST, hasAlternative: false }, GENEROUS)).toMatchObject({ kind: 'retry-same' })
  })

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

  test('after a 429 or a refused key, the next step is another key at once, or else the next target', () => {
    for (const fault of [refused(429, '', '', 60), refused(401), refused(402, 'Insufficient balance')]) {
      expect(nextStep(fault, { ...FIRST, hasOtherKey: true }, GENEROUS)).toEqual({ kind: 'next-key' })
      expect(nextStep(fault, FIRST, GENEROUS)).toEqual({ kind: 'next-target' })
    }
  })

  test('after an ambiguous refusal, the next step is one other key, then the next target', () => {
    const other = { ...FIRST, hasOtherKey: true }
    expect(nextStep(refused(403), other, GENEROUS)).toEqual({ kind: 'next-key' })
    expect(nextStep(refused(403), { ...other, attemptsHere: 2 }, GENEROUS)).toEqual({ kind: 'next-target' })
    expect(nextStep(refused(403), FIRST, GENEROUS)).toEqual({ kind: 'next-target' })
  })

  test('a request too large for a model goes to the next model; a request too large for all models stops', () => {
    expect(nextStep(refused(413), FIRST, GENEROUS)).toEqual({ kind: 'next-model' })
    expect(nextStep(refused(404), FIRST, GENEROUS)).toEqual({ kind: 'next-target' })
    expect(nextStep(refused(400, 'bad'), FIRST, GENEROUS)).toEqual({ kind: 'stop' })
  })

  test('after the deadline or the maximum of attempts, no attempt follows', () => {
    expect(nextStep(refused(500), { ...FIRST, remainingMs: 0 }, GENEROUS)).toEqual({ kind: 'stop' })
    expect(nextStep(refused(429), { ...FIRST, attemptsInAll: MAX_ATTEMPTS, hasOtherKey: true }, GENEROUS)).toEqual({
      kind: 'stop',
    })
  })

  test('the retry limit is only checked if a retry would follow', () => {
    let asked = 0
    const counting = { random: () => 0, takeRetry: () => ++asked > 0 }
    for (const fault of [refused(429), refused(404), refused(413), refused(400)]) nextStep(fault, FIRST, counting)
    nextStep(refused(500), { ...FIRST, attemptsHere: 2 }, counting)
    expect(asked).toBe(0)
    nextStep(refused(500), FIRST, counting)
    expect(asked).toBe(1)
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
