/**
 * What nobody pays for: free answers, refusals, and strangers. Each is limited, and decided before a body is read wherever it can be.
 * The limits are each process's own. Whoever pays is asked nothing: only a key that was refused a moment ago, or that announces a
 * large body, has its standing looked at before the body is read, rather than by the reserve after it.
 */
import { GatewayError } from '@/chat/error'
import type { Ledger } from '@/ledger/ledger'
import type { AccountBalance, DefaultLimits, KeyUsage, Payer } from '@/ledger/outcomes'
import { createBoundedMap } from '@/lib/bounded-map'
import type { Clock } from '@/lib/clock'
import { type Nano, nanoToUsd, ZERO_NANO } from '@/lib/money'
import { createAllowance } from '@/lib/quota/allowance'
import { networkOf } from '@/lib/quota/network'
import { SHARED } from '@/limits/shared-resources'
import { clientAddress } from './client-address'
import { checkKey } from './require-active-key'

export interface Unpaid {
  /** Counts a free answer. Throws `rate_limited`. */
  answer(payer: Payer): void
  /** Before the body of a paid request. Resolves at once for nearly everybody; else throws as a reserve would. */
  admit(payer: Payer, request: Request): Promise<unknown> | undefined
  /** Throws `rate_limited` where the account has had more than its share of what is read for nothing. */
  admitBytes(payer: Payer): void
  /**
   * Before much is read that nobody has paid for yet. Throws likewise, and as a reserve would where the account's credit does not
   * pay `least`.
   */
  admitLarge(payer: Payer, least?: Nano): Promise<void>
  /** Counts bytes that were read for nothing. */
  charge(payer: Payer, bytes: number): void
  /** Notes that a paid request was refused, after so many bytes were read for it. */
  refused(payer: Payer, error: unknown, bytes: number): void
  /** Throws `rate_limited` where the request's address has sent too many keys that are none, before another is looked up. */
  admitStranger(request: Request): void
  /** Counts a key that is none, or none at all. */
  stranger(request: Request): void
}

type UnpaidDeps = {
  ledger: Pick<Ledger, 'readKey' | 'readBalance'>
  clock: Clock
  /** Of the catalogue: nobody gets less for free than they may pay for. */
  limits: Pick<DefaultLimits, 'requestsPerMinute'>
  trustedProxyHops: number
}

/** Keys that are none, from one network. A machine that was set up wrongly tries again and again, and must not look like an attack. */
const STRANGERS_PER_MINUTE = 300
/** So long after a refusal a key's standing is looked at first. */
const SUSPICION_MS = 60_000
const MAX_SUSPECTS = 10_000
/** Reading this much takes longer than asking the ledger. */
export const LARGE_BYTES = 256 * 1024
/** The least that an account gets for free answers, and each of its keys for refusals: one that goes wild leaves the others theirs. */
const { perAccount: MIN_FREE_PER_MINUTE } = SHARED.freeAnswers

/** Creates the limits of one process. */
export function createUnpaid({ ledger, clock, limits, trustedProxyHops }: UnpaidDeps): Unpaid {
  const freePerMinute = () => Math.max(MIN_FREE_PER_MINUTE, limits.requestsPerMinute)
  const free = createAllowance(freePerMinute, clock.monotonic)
  const refusals = createAllowance(freePerMinute, clock.monotonic)
  const bytesRead = createAllowance(() => SHARED.unpaidBytes.perAccount, clock.monotonic)
  const strangers = createAllowance(() => STRANGERS_PER_MINUTE, clock.monotonic)
  const suspects = createBoundedMap<string, number>(MAX_SUSPECTS)
  const hurried = createBoundedMap<string, { untilMs: number; error: GatewayError }>(MAX_SUSPECTS)
  let suspiciousUntilMs = 0

  const networkBehind = (request: Request) => networkOf(clientAddress(request, trustedProxyHops))

  async function checkStanding(payer: Payer, least: Nano): Promise<KeyUsage> {
    const [found, balance] = await Promise.all([ledger.readKey(payer), ledger.readBalance(payer.accountId)])
    const key = checkKey(found, clock.now())
    if (balance?.status === 'suspended') {
      throw new GatewayError('forbidden', 'This account is suspended.', { code: 'account_suspended' })
    }
    const credit = balance ? balance.available + balance.held : 0
    if (balance && (credit <= 0 || credit < least)) throw tooPoor(balance)
    return key
  }

  /** As a reserve would, for whatever body: the requests of the minute are used up for so long as the last reserve has said. */
  function refuseHurried({ accountId, keyId }: Payer): void {
    for (const whose of [keyId, accountId]) {
      const refusal = hurried.get(whose)
      const leftMs = refusal ? refusal.untilMs - clock.monotonic() : 0
      if (!refusal || leftMs <= 0) continue
      const { kind, message, options } = refusal.error
      throw new GatewayError(kind, message, { ...options, retryAfterSeconds: leftMs / 1000 })
    }
  }

  function noteHurried({ accountId, keyId }: Payer, error: GatewayError): void {
    const { details, retryAfterSeconds = 0 } = error.options
    if (details?.scope !== 'requests') return
    const untilMs = clock.monotonic() + retryAfterSeconds * 1000
    hurried.set(details.of === 'key' ? keyId : accountId, { untilMs, error })
  }

  async function admitLargePaid(payer: Payer): Promise<void> {
    refuseHurried(payer)
    admitBytes(payer)
    const { monthlyBudget, spentThisMonth, held } = await checkStanding(payer, ZERO_NANO)
    if (monthlyBudget !== null && spentThisMonth >= monthlyBudget) throw budgetSpent(held, clock.now())
  }

  const admitBytes = ({ accountId }: Payer) => refuseEarly(bytesRead.waitMs(accountId))

  async function admitLarge(payer: Payer, least: Nano = ZERO_NANO): Promise<void> {
    admitBytes(payer)
    await checkStanding(payer, least)
  }

  return {
    answer: ({ accountId }) => refuseEarly(free.take(accountId)),
    admitBytes,
    admitLarge,
    charge: ({ accountId }, bytes) => bytesRead.charge(accountId, bytes),
    admit(payer, request) {
      if (clock.monotonic() < suspiciousUntilMs && clock.monotonic() < (suspects.get(payer.keyId) ?? 0)) {
        refuseEarly(refusals.waitMs(payer.keyId))
        return isLarge(request) ? admitLargePaid(payer) : checkStanding(payer, ZERO_NANO)
      }
      return isLarge(request) ? admitLargePaid(payer) : undefined
    },
    refused(payer, error, bytes) {
      if (!(error instanceof GatewayError) || error.status >= 500) return
      noteHurried(payer, error)
      refusals.take(payer.keyId)
      bytesRead.charge(payer.accountId, bytes)
      suspiciousUntilMs = clock.monotonic() + SUSPICION_MS
      suspects.set(payer.keyId, suspiciousUntilMs)
    },
    admitStranger: (request) => refuseEarly(strangers.waitMs(networkBehind(request))),
    stranger: (request) => refuseEarly(strangers.take(networkBehind(request))),
  }
}

/** Whether the body is to be asked about before it is read. One of unannounced length may be of any. */
export function isLarge({ headers }: Request): boolean {
  const length = headers.get('content-length')
  return length === null || Number(length) > LARGE_BYTES
}

function tooPoor({ available, held }: Pick<AccountBalance, 'available' | 'held'>): GatewayError {
  const isUsedUp = available + held <= 0
  const message = isUsedUp ? 'Your credit is used up.' : 'Your credit does not pay for the conversation that is named.'
  return new GatewayError('insufficient_credit', `${message} Buy credit in the dashboard.`, {
    details: {
      availableUsd: isUsedUp ? 0 : nanoToUsd(available),
      heldUsd: isUsedUp ? 0 : nanoToUsd(held),
      transient: false,
    },
  })
}

function budgetSpent(held: Nano, nowMs: number): GatewayError {
  const now = new Date(nowMs)
  const resetsAt = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1)).toISOString()
  return new GatewayError(
    'insufficient_credit',
    `The monthly budget of this API key is used up. It begins anew at ${resetsAt}.`,
    {
      code: 'key_budget_exceeded',
      details: { remainingUsd: 0, heldUsd: nanoToUsd(held), resetsAt, transient: false },
    },
  )
}

function refuseEarly(earlyMs: number): void {
  if (earlyMs === 0) return
  throw new GatewayError('rate_limited', 'Too many requests that were refused, or that cost nothing. Slow down.', {
    code: 'too_many_unpaid',
    retryAfterSeconds: earlyMs / 1000,
  })
}
