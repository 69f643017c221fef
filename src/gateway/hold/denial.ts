/** Turns the ledger's refusal to reserve credit into the caller's error. */
import { GatewayError } from '@/chat/error'
import type { BudgetScope, BudgetWindow } from '@/ledger/budgets'
import type { Payer, Refusal, ReserveOutcome } from '@/ledger/outcomes'
import { nanoToUsd } from '@/lib/money'
import type { HoldSize } from './hold-size'

/** `retry-after` if other open requests hold the credit. They have probably ended after this time. */
const TRANSIENT_RETRY_SECONDS = 2
/** `retry-after` if the store takes no requests. Its state is checked every second, but only a person can repair a full store. */
const CLOSED_RETRY_SECONDS = 5

/** Whether the payer's member may see the account's balance; false if unknown. Never rejects. */
export type SeesBalance = (payer: Payer) => Promise<boolean>

/** The error for a refused reserve of `size`, without figures that the payer may not see. */
export async function denialFor(
  seesBalance: SeesBalance,
  payer: Payer,
  outcome: Refusal,
  size?: Pick<HoldSize, 'fileTokens'>,
): Promise<GatewayError> {
  return denial(outcome, size, outcome.kind !== 'insufficient' || (await seesBalance(payer)))
}

/** The error for a refused reserve. `isBalanceSeen`: whether the error may contain the account's balance. */
export function denial(
  outcome: Refusal,
  { fileTokens }: Pick<HoldSize, 'fileTokens'> = {},
  isBalanceSeen = false,
): GatewayError {
  switch (outcome.kind) {
    case 'insufficient':
      return insufficient(outcome, fileTokens, isBalanceSeen)
    case 'budget_exceeded':
      return overBudget(outcome, fileTokens)
    case 'over_budget':
      return overScopeBudget(outcome, fileTokens)
    case 'rate_limited':
      return rateLimited(outcome)
    case 'key_inactive':
      return new GatewayError('invalid_credentials', inactive(outcome.status))
    case 'unknown_account':
    case 'unknown_key':
      return new GatewayError('invalid_credentials', 'This API key does not exist.')
    case 'address_not_allowed':
      return new GatewayError('forbidden', 'This API key may not be used from your address.', {
        code: 'address_not_allowed',
      })
    case 'account_suspended':
      return new GatewayError('forbidden', 'This account is suspended.', { code: 'account_suspended' })
    case 'models_changed':
      return new GatewayError('overloaded', 'The models or providers of this API key are being changed. Try again.', {
        code: 'key_changing',
        retryAfterSeconds: 1,
      })
    case 'exists':
      return new GatewayError('internal', 'The request could not be identified.', { cause: `hold ${outcome.state}` })
  }
}

function inactive(status: Extract<Refusal, { kind: 'key_inactive' }>['status']): string {
  return status === 'replaced' ? 'This API key was replaced by a newer one.' : `This API key is ${status}.`
}

/** The error while the store takes no new requests. It still takes the settlements of open requests. */
export function storeClosed(): GatewayError {
  return new GatewayError('overloaded', 'The service cannot accept requests at the moment. Try again.', {
    code: 'ledger_unavailable',
    retryAfterSeconds: CLOSED_RETRY_SECONDS,
  })
}

/** The error for too little credit: permanent if the request costs more than the account has, transient if open requests hold it. */
function insufficient(
  outcome: Extract<ReserveOutcome, { kind: 'insufficient' }>,
  fileTokens: number | undefined,
  isBalanceSeen: boolean,
): GatewayError {
  const { available, held, needed } = outcome
  const isTransient = needed <= available + held
  const details = {
    neededUsd: nanoToUsd(needed),
    ...(isBalanceSeen && { availableUsd: nanoToUsd(available), heldUsd: nanoToUsd(held) }),
    transient: isTransient,
    ...(fileTokens !== undefined && { fileTokens }),
  }
  const message = isTransient
    ? 'Your credit is held by other open requests. Try again when they have finished.'
    : `Your credit does not cover this request. Buy credit in the dashboard, or lower the output limit.${fileHint(fileTokens)}`
  return new GatewayError('insufficient_credit', message, {
    details,
    ...(isTransient && { retryAfterSeconds: TRANSIENT_RETRY_SECONDS }),
  })
}

/** The error for an exceeded budget: transient if other open requests hold the missing amount, as with the account's credit. */
function overBudget(
  outcome: Extract<ReserveOutcome, { kind: 'budget_exceeded' }>,
  fileTokens: number | undefined,
): GatewayError {
  const { remaining, held, needed, resetsAtMs } = outcome
  const isTransient = needed <= remaining + held
  const resetsAt = new Date(resetsAtMs).toISOString()
  const details = {
    neededUsd: nanoToUsd(needed),
    remainingUsd: nanoToUsd(remaining),
    heldUsd: nanoToUsd(held),
    resetsAt,
    transient: isTransient,
    ...(fileTokens !== undefined && { fileTokens }),
  }
  const hint = isTransient ? '' : fileHint(fileTokens)
  return new GatewayError('insufficient_credit', `${budgetMessage(details)}${hint}`, {
    code: 'key_budget_exceeded',
    details,
    ...(isTransient && { retryAfterSeconds: TRANSIENT_RETRY_SECONDS }),
  })
}

const WHOSE_BUDGET: Record<BudgetScope, string> = {
  account: 'of this account',
  member: 'of the member whose API key this is',
  key: 'of this API key',
}
const WINDOW_BUDGET: Record<BudgetWindow, string> = {
  day: 'daily budget',
  week: 'weekly budget',
  month: 'monthly budget',
  total: 'total budget',
}

/** A key may see the figures of its own budgets and its member's. If an account's budget is used up, the key sees only that. */
function overScopeBudget(
  outcome: Extract<ReserveOutcome, { kind: 'over_budget' }>,
  fileTokens: number | undefined,
): GatewayError {
  const { scope, window, limit, spent, held, remaining, needed, resetsAtMs } = outcome
  const isTransient = held > 0 && needed <= remaining + held
  const resetsAt = resetsAtMs === undefined ? null : new Date(resetsAtMs).toISOString()
  const figures = { limitUsd: nanoToUsd(limit), spentUsd: nanoToUsd(spent), heldUsd: nanoToUsd(held) }
  const details = {
    scope,
    window,
    ...(scope !== 'account' && figures),
    neededUsd: nanoToUsd(needed),
    resetsAt,
    transient: isTransient,
    ...(fileTokens !== undefined && { fileTokens }),
  }
  const budget = `${WINDOW_BUDGET[window]} ${WHOSE_BUDGET[scope]}`
  const message = isTransient
    ? `What is left of the ${budget} is held by other open requests. Try again when they have finished.`
    : `The ${budget} does not cover this request.${resetsAt === null ? '' : ` It begins anew at ${resetsAt}.`}${fileHint(fileTokens)}`
  return new GatewayError('insufficient_credit', message, {
    code: 'budget_exceeded',
    details,
    ...(isTransient && { retryAfterSeconds: TRANSIENT_RETRY_SECONDS }),
  })
}

/** Explains how to reserve less for files, since the reserved amount is rarely charged in full. */
function fileHint(fileTokens: number | undefined): string {
  if (fileTokens === undefined) return ''
  return (
    ` Its files may be up to ${fileTokens} tokens: send smaller ones or fewer, a PDF without object streams or encryption ` +
    '(of which the pages can be counted), sound as WAV or MP3, or choose a model that is cheaper or has a smaller context.'
  )
}

function budgetMessage(details: {
  neededUsd: number
  remainingUsd: number
  resetsAt: string
  transient: boolean
}): string {
  const { neededUsd, remainingUsd, resetsAt } = details
  if (details.transient) {
    return 'What is left of the monthly budget of this API key is held by its other open requests. Try again when they have finished.'
  }
  if (remainingUsd === 0) return `The monthly budget of this API key is used up. It begins anew at ${resetsAt}.`
  return (
    `This request may cost ${neededUsd} USD, and ${remainingUsd} USD are left of the monthly budget of this API key. ` +
    'Lower the output limit, or raise the budget in the dashboard.'
  )
}

function rateLimited(outcome: Extract<ReserveOutcome, { kind: 'rate_limited' }>): GatewayError {
  const { scope, of, limit, retryAfterMs } = outcome
  const unit = scope === 'concurrency' ? 'open requests at once' : `${scope} per minute`
  const whose = of === 'key' ? 'for this API key' : 'for all API keys of this account together'
  return new GatewayError('rate_limited', `Rate limit reached: ${limit} ${unit} ${whose}.`, {
    code: 'rate_limit_exceeded',
    details: { scope, limit, of },
    retryAfterSeconds: Math.max(retryAfterMs / 1000, 0.001),
    ...(scope === 'concurrency' ? { headers: concurrencyHeaders(limit) } : { limits: outcome.limits }),
  })
}

/** Our own headers for the limit of concurrent requests, since the formats define none. */
function concurrencyHeaders(limit: number): Record<string, string> {
  return { 'x-ratelimit-limit-concurrency': String(limit), 'x-ratelimit-remaining-concurrency': '0' }
}
