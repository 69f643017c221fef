/**
 * Sees to it that every settlement and release reaches the ledger. One that the store does not acknowledge is kept and sent
 * again by its id, with growing pauses, until it is; the ledger makes repeats harmless.
 */
import type { Ledger } from '@/ledger/ledger'
import type { Settlement } from '@/ledger/outcomes'
import type { Logger } from '@/lib/logger'

export type Resolution =
  | { kind: 'settle'; settlement: Settlement }
  | { kind: 'release'; accountId: string; keyId: string; holdId: string }

export interface Settler {
  /**
   * Hands over a resolution. Returns once the ledger has acknowledged it, or after {@link PATIENCE_MS} at the latest:
   * from then on it is retried behind the answer's back. Never rejects.
   */
  resolve(resolution: Resolution): Promise<void>
  /** Resolutions that the ledger has not acknowledged yet. */
  pendingCount(): number
  /** Waits until none is pending, at most `timeoutMs`. Returns how many were left. */
  drain(timeoutMs: number): Promise<number>
}

/** How long an answer's end may wait for the ledger. */
const PATIENCE_MS = 1_000
const FIRST_RETRY_MS = 100
const MAX_RETRY_MS = 5_000

/** Creates the settler of one process. */
export function createSettler(ledger: Ledger, logger: Logger): Settler {
  const pending = new Set<Promise<void>>()

  async function insist(resolution: Resolution): Promise<void> {
    for (let pause = FIRST_RETRY_MS; ; pause = Math.min(pause * 2, MAX_RETRY_MS)) {
      try {
        await send(resolution)
        return
      } catch (error) {
        logger.warn('settlement_unacknowledged', { holdId: idOf(resolution), error })
        await Bun.sleep(pause * (0.5 + Math.random() / 2))
      }
    }
  }

  async function send(resolution: Resolution): Promise<void> {
    if (resolution.kind === 'release') {
      await ledger.release(resolution)
      return
    }
    // The reserve was acknowledged before anything was delivered: a store that lost the hold since must charge all the same.
    const outcome = await ledger.settle(resolution.settlement, { force: true })
    if (outcome.kind === 'settled' && !outcome.overrun) return
    logger.warn('settlement_outcome', { holdId: idOf(resolution), outcome: outcome.kind })
  }

  return {
    async resolve(resolution) {
      const work = insist(resolution)
      pending.add(work)
      void work.then(() => pending.delete(work))
      const patience = Promise.withResolvers<void>()
      const timer = setTimeout(patience.resolve, PATIENCE_MS)
      await Promise.race([work, patience.promise])
      clearTimeout(timer)
    },
    pendingCount: () => pending.size,
    async drain(timeoutMs) {
      const deadline = Promise.withResolvers<void>()
      const timer = setTimeout(deadline.resolve, timeoutMs)
      await Promise.race([Promise.all(pending), deadline.promise])
      clearTimeout(timer)
      return pending.size
    },
  }
}

function idOf(resolution: Resolution): string {
  return resolution.kind === 'settle' ? resolution.settlement.holdId : resolution.holdId
}
