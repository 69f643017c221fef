/**
 * Limits for unpaid requests: free answers, refusals, and unknown callers. They are checked per process, if possible before a body is read.
 * A usual paid request is not checked. Only for a recently refused key, or a large body, the ledger is first asked whether it would grant a
 * reserve.
 */
import { GatewayError } from '@/chat/error'
import { type Asking, refuseAsReserve, refuseWithoutCredit } from '@/gateway/refuse-early'
import type { DefaultLimits, Payer } from '@/ledger/outcomes'
import { createBoundedMap } from '@/lib/bounded-map'
import type { Clock } from '@/lib/clock'
import { type Nano, ZERO_NANO } from '@/lib/money'
import { createAllowance } from '@/lib/quota/allowance'
import { networkOf } from '@/lib/quota/network'
import { SHARED } from '@/limits/shared-resources'
import { clientAddress } from './client-address'

export interface Unpaid {
  /** Counts a free answer. Throws `rate_limited`. */
  answer(payer: Payer): void
  admit(payer: Payer, request: Request): Promise<unknown> | undefined
  admitBytes(payer: Payer): void
  /** Called before a large paid body is read. Throws like a reserve of `least` for any model: key, credit, budget, limits. */
  admitLarge(payer: Payer, least?: Nano): Promise<void>
  /** Called before a large body of a free request is read: only the account's status and credit are checked. */
  admitFree(payer: Payer, least?: Nano): Promise<void>
  /** Counts bytes that were read for free. */
  charge(payer: Payer, bytes: number): void
  /** Records that a paid request was refused after `bytes` were read. */
  refused(payer: Payer, error: unknown, bytes: number): void
  /** Called before a key is looked up. Throws `rate_limited` if the request's address has sent too many invalid keys. */
  admitStranger(request: Request): void
  stranger(request: Request): void
}

type UnpaidDeps = Asking<'refusalOf' | 'readBalance'> & {
  clock: Clock
  /** The catalogue's default limits. Free requests per minute are never fewer than paid ones. */
  limits: Pick<DefaultLimits, 'requestsPerMinute'>
  trustedProxyHops: number
}

/** Invalid keys per network. A misconfigured machine that keeps retrying must not look like an attack. */
const STRANGERS_PER_MINUTE = 300
/** For this time after a refusal, a key's status is checked before its body is read. */
const SUSPICION_MS = 60_000
const MAX_SUSPECTS = 10_000
/** Seconds for which the next large bodies get the same refusal, without asking the ledger. */
const REPEATED_SECONDS = 1
/** A body is large from this size: reading it takes longer than asking the ledger. */
export const LARGE_BYTES = 256 * 1024
/** The minimum of free answers for each account, and of refusals for each key: one key doesn't use up the share of others. */
const { perAccount: MIN_FREE_PER_MINUTE } = SHARED.freeAnswers

/** Creates the limits for requests without payment. */
export function createUnpaid(deps: UnpaidDeps): Unpaid {
  const { clock, limits, trustedProxyHops } = deps
  const freePerMinute = () => Math.max(MIN_FREE_PER_MINUTE, limits.requestsPerMinute)
  const free = createAllowance(freePerMinute, clock.monotonic)
  const refusals = createAllowance(freePerMinute, clock.monotonic)
  const bytesRead = createAllowance(() => SHARED.unpaidBytes.perAccount, clock.monotonic)
  const strangers = createAllowance(() => STRANGERS_PER_MINUTE, clock.monotonic)
  const suspects = createBoundedMap<string, number>(MAX_SUSPECTS)
  const lately = createBoundedMap<string, { untilMs: number; error: GatewayError }>(MAX_SUSPECTS)

  const networkBehind = (request: Request) => networkOf(clientAddress(request, trustedProxyHops))

  const admitBytes = ({ accountId }: Payer) => refuseEarly(bytesRead.waitMs(accountId))

  async function admitLarge(payer: Payer, least = ZERO_NANO): Promise<void> {
    admitBytes(payer)
    await refuseAsReserve(deps, payer, least)
  }

  /** Refuses a recently refused caller without asking the ledger: while asking, the server would read the body from the socket. */
  function admitUnread(payer: Payer): Promise<void> {
    for (const whose of [payer.keyId, payer.accountId]) {
      const told = lately.get(whose)
      if (told && clock.monotonic() < told.untilMs) throw told.error
    }
    return admitLarge(payer).catch((error: unknown) => {
      if (error instanceof GatewayError && error.status < 500) {
        const { retryAfterSeconds = REPEATED_SECONDS } = error.options
        const untilMs = clock.monotonic() + Math.min(retryAfterSeconds, REPEATED_SECONDS) * 1000
        lately.set(isOfKey(error) ? payer.keyId : payer.accountId, { untilMs, error })
      }
      throw error
    })
  }

  async function admitFree(payer: Payer, least = ZERO_NANO): Promise<void> {
    admitBytes(payer)
    await refuseWithoutCredit(deps, payer, least)
  }

  return {
    answer: ({ accountId }) => refuseEarly(free.take(accountId)),
    admitBytes,
    admitLarge,
    admitFree,
    charge: ({ accountId }, bytes) => bytesRead.charge(accountId, bytes),
    admit(payer, request) {
      const suspectUntilMs = suspects.get(payer.keyId)
      const isSuspect = suspectUntilMs !== undefined && clock.monotonic() < suspectUntilMs
      if (isSuspect) refuseEarly(refusals.waitMs(payer.keyId))
      if (isLarge(request)) return admitUnread(payer)
      return isSuspect ? refuseAsReserve(deps, payer, ZERO_NANO) : undefined
    },
    refused(payer, error, bytes) {
      if (!(error instanceof GatewayError) || error.status >= 500) return
      refusals.take(payer.keyId)
      bytesRead.charge(payer.accountId, bytes)
      suspects.set(payer.keyId, clock.monotonic() + SUSPICION_MS)
    },
    admitStranger: (request) => refuseEarly(strangers.waitMs(networkBehind(request))),
    stranger: (request) => refuseEarly(strangers.take(networkBehind(request))),
  }
}

/** Whether the error applies only to this key. Lack of credit does: its text may contain figures that only some members may see. */
function isOfKey({ kind, options: { details } }: GatewayError): boolean {
  return kind === 'invalid_credentials' || kind === 'insufficient_credit' || details?.of === 'key'
}

/** Whether to ask the ledger before reading the body. An unannounced length may be large. */
export function isLarge({ headers }: Request): boolean {
  const length = headers.get('content-length')
  return length === null || Number(length) > LARGE_BYTES
}

function refuseEarly(earlyMs: number): void {
  if (earlyMs === 0) return
  throw new GatewayError('rate_limited', 'Too many refused or free requests. Slow down.', {
    code: 'too_many_unpaid',
    retryAfterSeconds: earlyMs / 1000,
  })
}
