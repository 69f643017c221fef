/** Refusals by the ledger as errors for the caller: status, code, and whether to retry. */
import { describe, expect, test } from 'bun:test'
import { denial } from '@/gateway/hold/denial'
import { nano } from '@/lib/money'

const usd = (amount: number) => nano(amount * 1_000_000_000)

describe('missing credit', () => {
  test('missing credit is temporary if other requests hold enough', () => {
    const error = denial({ kind: 'insufficient', available: usd(1), held: usd(2), needed: usd(3) }, {}, true)
    expect([error.status, error.options.retryAfterSeconds]).toEqual([402, 2])
    expect(error.options.details).toEqual({ neededUsd: 3, availableUsd: 1, heldUsd: 2, transient: true })
    expect(error.message).toContain('held by other open requests')
  })

  test('a refusal shows no balance to a member who may not see it', () => {
    const error = denial({ kind: 'insufficient', available: usd(1), held: usd(2), needed: usd(3) })
    expect(error.options.details).toEqual({ neededUsd: 3, transient: true })
  })

  test('missing credit is final if the credit held by other requests is too little', () => {
    const error = denial({ kind: 'insufficient', available: usd(1), held: usd(2), needed: nano(3_000_000_001) })
    expect([error.status, error.options.retryAfterSeconds]).toEqual([402, undefined])
    expect(error.options.details).toMatchObject({ transient: false })
    expect(error.message).toContain('Buy credit')
  })
})

describe('a refusal because of files', () => {
  const short = { available: usd(1), held: usd(0), needed: usd(4) }

  test('a refusal because of files has their possible size and how to lower it', () => {
    const budget = { kind: 'budget_exceeded', remaining: usd(1), resetsAtMs: 0 } as const
    for (const outcome of [{ kind: 'insufficient', ...short } as const, { ...budget, ...short }]) {
      const error = denial(outcome, { fileTokens: 1_000_000 })
      expect(error.options.details).toMatchObject({ neededUsd: 4, fileTokens: 1_000_000, transient: false })
      expect(error.message).toContain('files may be up to 1000000 tokens: send smaller ones')
    }
  })

  test('a refusal does not blame files if other requests hold the credit, or if there are none', () => {
    const held = denial({ kind: 'insufficient', ...short, held: usd(9) }, { fileTokens: 1_000_000 })
    expect(held.message).not.toContain('files')
    const none = denial({ kind: 'insufficient', ...short }, {})
    expect(none.message).not.toContain('files')
    expect(none.options.details).not.toHaveProperty('fileTokens')
  })
})

describe('a key’s budget that does not suffice', () => {
  const over = (remaining: number, held: number) =>
    denial({
      ...{ kind: 'budget_exceeded', resetsAtMs: Date.UTC(2026, 3, 1), needed: usd(0.75), available: usd(9) },
      ...{ remaining: usd(remaining), held: usd(held) },
    })
  const details = { resetsAt: '2026-04-01T00:00:00.000Z', neededUsd: 0.75 }

  test('a budget with nothing left is reported as used up', () => {
    const error = over(0, 0.5)
    expect([error.status, error.options.code]).toEqual([402, 'key_budget_exceeded'])
    expect(error.options.details).toEqual({ ...details, remainingUsd: 0, heldUsd: 0.5, transient: false })
    expect(error.message).toBe(
      'The monthly budget of this API key is used up. It begins anew at 2026-04-01T00:00:00.000Z.',
    )
  })

  test('a partly used budget is reported with needed and remaining amounts', () => {
    const error = over(0.5, 0.125)
    expect(error.options.details).toEqual({ ...details, remainingUsd: 0.5, heldUsd: 0.125, transient: false })
    expect(error.message).toContain('may cost 0.75 USD, and 0.5 USD are left')
    expect(error.options.retryAfterSeconds).toBeUndefined()
  })

  test('a budget refusal is temporary if the key’s other open requests hold the budget', () => {
    const error = over(0.5, 0.25)
    expect(error.options.details).toMatchObject({ transient: true })
    expect(error.message).toContain('held by its other open requests')
    expect(error.options.retryAfterSeconds).toBe(2)
  })
})

describe('a reached rate limit', () => {
  test('a limit per minute reports the remaining amount in each format’s own headers', () => {
    const limits = { tokens: { limit: 600, remaining: 40, resetMs: 61_000 } }
    const error = denial({ kind: 'rate_limited', scope: 'tokens', of: 'key', limits, limit: 600, retryAfterMs: 1_500 })
    expect([error.status, error.options.code]).toEqual([429, 'rate_limit_exceeded'])
    expect(error.options).toMatchObject({ limits, retryAfterSeconds: 1.5, details: { scope: 'tokens', limit: 600 } })
    expect(error.options.headers).toBeUndefined()
    expect(error.message).toContain('600 tokens per minute')
  })

  test('a limit on open requests is reported in the gateway’s own headers', () => {
    const error = denial({ kind: 'rate_limited', scope: 'concurrency', of: 'key', limit: 3, retryAfterMs: 1_000 })
    expect(error.status).toBe(429)
    expect(error.options.headers).toEqual({
      'x-ratelimit-limit-concurrency': '3',
      'x-ratelimit-remaining-concurrency': '0',
    })
    expect(error.message).toContain('3 open requests at once')
  })

  test('the refusal of a rate limit never has a retry-after of 0', () => {
    const limits = { requests: { limit: 1, remaining: 0, resetMs: 0 } }
    const error = denial({ kind: 'rate_limited', scope: 'requests', of: 'key', limits, limit: 1, retryAfterMs: 0 })
    expect(error.options.retryAfterSeconds).toBeGreaterThan(0)
  })
})

test.each([
  [{ kind: 'key_inactive', status: 'expired' } as const, 401, 'This API key is expired.'],
  [{ kind: 'unknown_key' } as const, 401, 'This API key does not exist.'],
  [{ kind: 'unknown_account' } as const, 401, 'This API key does not exist.'],
  [{ kind: 'account_suspended' } as const, 403, 'This account is suspended.'],
])('the denial %j has status %d: %s', (outcome, status, message) => {
  expect(denial(outcome)).toMatchObject({ status, message })
})

test('if the key changes during the reserve, the client can retry; a hold id used twice is an internal error', () => {
  expect(denial({ kind: 'models_changed', allowed: { allowedModels: [], allowedProviders: null } })).toMatchObject({
    ...{ status: 503, options: { code: 'key_changing', retryAfterSeconds: 1 } },
  })
  expect(denial({ kind: 'exists', state: 'settled' })).toMatchObject({ status: 500 })
})
