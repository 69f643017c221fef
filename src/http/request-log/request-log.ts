/**
 * Logs requests that did not end with a provider's answer: refused, repeated with an earlier answer, or answered for free. To protect the
 * disk, only a limited number of refusals per account (and per network of unknown callers) is logged in ten seconds; the others are counted
 * in one line.
 */
import { knownError } from '@/chat/error'
import { clientAddress } from '@/http/client-address'
import type { Clock } from '@/lib/clock'
import type { Logger } from '@/lib/logger'
import { networkOf } from '@/lib/quota/network'
import { type RequestLine, writeLine } from '@/metrics/request-line'

export interface RequestLog {
  /** The request was refused with `status` before an answer began; `isLate`: inside a stream that had begun. */
  refused(line: RequestLine, request: Request, error: unknown, status: number, isLate?: boolean): void
  /** The request got the stored answer of an earlier request: one with its idempotency key, or an equal one in the cache. */
  replayed(line: RequestLine, originalRequestId: string, status: number): void
  answeredFree(line: RequestLine): void
  stop(): void
}

type RequestLogDeps = { logger: Logger; clock: Clock; trustedProxyHops: number }

const WINDOW_MS = 10_000
/** Maximum lines of refusals in ten seconds: per account, for all accounts, per network, for all unknown callers. */
const MAX_OF_ACCOUNT = 100
const MAX_OF_ACCOUNTS = 1_000
export const MAX_OF_NETWORK = 20
const MAX_OF_STRANGERS = 200

/** Creates the log of one process. */
export function createRequestLog({ logger, clock, trustedProxyHops }: RequestLogDeps): RequestLog {
  const accounts = createShares(MAX_OF_ACCOUNT, MAX_OF_ACCOUNTS)
  const networks = createShares(MAX_OF_NETWORK, MAX_OF_STRANGERS)
  let leftOut = { lines: 0, ofStrangers: 0, byStatus: {} as Record<number, number> }
  let windowFromMs = Number.NEGATIVE_INFINITY
  let timer: Timer | undefined

  function report(): void {
    clearTimeout(timer)
    timer = undefined
    if (leftOut.lines === 0) return
    logger.info('request_lines_left_out', leftOut)
    leftOut = { lines: 0, ofStrangers: 0, byStatus: {} }
  }

  function turnWindow(): void {
    const nowMs = clock.monotonic()
    if (nowMs - windowFromMs < WINDOW_MS) return
    windowFromMs = nowMs
    accounts.clear()
    networks.clear()
  }

  function leaveOut(line: RequestLine, status: number): void {
    line.isWritten = true
    leftOut.lines += 1
    if (!line.payer) leftOut.ofStrangers += 1
    leftOut.byStatus[status] = (leftOut.byStatus[status] ?? 0) + 1
    timer ??= setTimeout(report, WINDOW_MS)
    timer.unref()
  }

  const durationOf = (line: RequestLine) => Math.round(clock.monotonic() - line.arrivedMonotonicMs)

  return {
    refused(line, request, error, status, isLate = false) {
      if (line.isWritten) return
      turnWindow()
      const { payer } = line
      const isWanted = payer
        ? accounts.take(payer.accountId)
        : networks.take(networkOf(clientAddress(request, trustedProxyHops)))
      if (!isWanted) return leaveOut(line, status)
      const { kind, options } = knownError(error)
      writeLine(logger, line, {
        ...line.attempt,
        ending: 'refused',
        status,
        error: kind,
        code: options.code,
        durationMs: durationOf(line),
        ...(isLate && { isLate }),
      })
    },
    replayed(line, replayOf, status) {
      writeLine(logger, line, { replayOf, status, durationMs: durationOf(line) })
    },
    answeredFree(line) {
      writeLine(logger, line, { status: 200, durationMs: durationOf(line) })
    },
    stop: report,
  }
}

/** Counts log lines: at most `most` per name, and `mostOfAll` in total. The total also limits the number of names. */
function createShares(most: number, mostOfAll: number) {
  const taken = new Map<string, number>()
  let takenOfAll = 0
  return {
    take(name: string): boolean {
      const before = taken.get(name) ?? 0
      if (before >= most || takenOfAll >= mostOfAll) return false
      taken.set(name, before + 1)
      takenOfAll += 1
      return true
    },
    clear() {
      taken.clear()
      takenOfAll = 0
    },
  }
}
