/** Traces the ledger calls that a request waits for. Without tracing, nothing is wrapped. */
import type { Settler } from '@/gateway/hold/settler'
import type { Ledger } from '@/ledger/ledger'
import type { Tracing } from '@/telemetry/tracing'

/** The ledger, with a span for each reserve. */
export function traceReserves(ledger: Ledger, tracing: Tracing | undefined): Ledger {
  if (!tracing) return ledger
  return {
    ...ledger,
    reserve(asked) {
      const reserving = ledger.reserve(asked)
      const { holdId, amount } = asked
      tracing.step(holdId, 'reserve', reserving, ({ kind }) => ({ outcome: kind, hold_nano_usd: amount }))
      return reserving
    },
  }
}

/** The settler, with a span for each settlement, except after a disconnect that may be free of charge. */
export function traceSettlements(settler: Settler, tracing: Tracing | undefined): Settler {
  if (!tracing) return settler
  return {
    ...settler,
    resolve(resolution) {
      const resolving = settler.resolve(resolution)
      if (resolution.kind === 'settle' && resolution.settlement.freePerHour === undefined)
        tracing.step(resolution.settlement.holdId, 'settle', resolving)
      return resolving
    },
  }
}
