/**
 * What nobody pays for: free answers, refusals, and strangers. Each is limited, and decided before a body is read wherever it can be.
 * The limits are each process's own. Whoever pays is asked nothing: only a key that was refused a moment ago, or that announces a
 * large body, has its standing looked at before the body is read, rather than by the reserve after it.
 */
import { GatewayError } from '@/chat/error'
import type { Ledger } from '@/ledger/ledger'
import type { DefaultLimits, Payer } from '@/ledger/outcomes'
import { createBoundedMap } from '@/lib/bounded-map'
import type { Clock } from '@/lib/clock'
import { createAllowance } from '@/lib/quota/allowance'
import { networkOf } from '@/lib/quota/network'
import { clientAddress } from './client-address'
import { checkKey } from './require-active-key'

export interface Unpaid {
  /** Counts a free answer. Throws `rate_limited`. */
  answer(payer: Payer): void
  /** Before the body of a paid request. Resolves at once for nearly everybody; else throws as a reserve would. */
  admit(payer: Payer, request: Request): Promise<void> | undefined
  /** Notes that a paid request was refused. */
  refused(payer: Payer, error: unknown): void
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

/** The least that a key gets for free: free answers, and refusals. */
const MIN_FREE_PER_MINUTE = 600
/** Keys that are none, from one network. A machine that was set up wrongly tries again and again, and must not look like an attack. */
const STRANGERS_PER_MINUTE = 300
/** So long after a refusal a key's standing is looked at first. */
const SUSPICION_MS = 60_000
const MAX_SUSPECTS = 10_000
/** Reading this much takes longer than asking the ledger. */
const LARGE_BODY_BYTES = 256 * 1024

/** Creates the limits of one process. */
export function createUnpaid({ ledger, clock, limits, trustedProxyHops }: UnpaidDeps): Unpaid {
  const free = createAllowance(() => Math.max(MIN_FREE_PER_MINUTE, limits.requestsPerMinute), clock.monotonic)
  const strangers = createAllowance(() => STRANGERS_PER_MINUTE, clock.monotonic)
  const suspects = createBoundedMap<string, number>(MAX_SUSPECTS)
  let suspiciousUntilMs = 0

  const networkBehind = (request: Request) => networkOf(clientAddress(request, trustedProxyHops))

  async function checkStanding(payer: Payer): Promise<void> {
    const [key, balance] = await Promise.all([ledger.readKey(payer), ledger.readBalance(payer.accountId)])
    checkKey(key, clock.now())
    if (balance?.status === 'suspended') {
      throw new GatewayError('forbidden', 'This account is suspended.', { code: 'account_suspended' })
    }
    if (balance && balance.available + balance.held <= 0) {
      throw new GatewayError('insufficient_credit', 'Your credit is used up. Buy credit in the dashboard.', {
        details: { availableUsd: 0, heldUsd: 0, transient: false },
      })
    }
  }

  return {
    answer: (payer) => refuseEarly(free.take(payer.keyId)),
    admit(payer, request) {
      if (clock.monotonic() < suspiciousUntilMs && clock.monotonic() < (suspects.get(payer.keyId) ?? 0)) {
        refuseEarly(free.waitMs(payer.keyId))
        return checkStanding(payer)
      }
      return isLarge(request) ? checkStanding(payer) : undefined
    },
    refused(payer, error) {
      if (!(error instanceof GatewayError) || error.status >= 500) return
      free.take(payer.keyId)
      suspiciousUntilMs = clock.monotonic() + SUSPICION_MS
      suspects.set(payer.keyId, suspiciousUntilMs)
    },
    admitStranger: (request) => refuseEarly(strangers.waitMs(networkBehind(request))),
    stranger: (request) => refuseEarly(strangers.take(networkBehind(request))),
  }
}

/** A body of unannounced length may be of any. */
function isLarge({ headers }: Request): boolean {
  const length = headers.get('content-length')
  return length === null || Number(length) > LARGE_BODY_BYTES
}

function refuseEarly(earlyMs: number): void {
  if (earlyMs === 0) return
  throw new GatewayError('rate_limited', 'Too many requests that were refused, or that cost nothing. Slow down.', {
    code: 'too_many_unpaid',
    retryAfterSeconds: earlyMs / 1000,
  })
}
