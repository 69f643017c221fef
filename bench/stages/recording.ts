/** Sends one real request through a gateway and notes what its parts were called with, to call them with the same again. */

import { type AppDeps, buildApp } from '@/app'
import type { ReserveOutcome, ReserveRequest, Settlement, SettleOutcome } from '@/ledger/outcomes'
import { assert } from '@/lib/assert'
import type { Logger } from '@/lib/logger'
import type { AnsweredRequest } from '@/metrics/metrics'

export type Recording = {
  reserve: ReserveRequest
  reserved: ReserveOutcome
  settlement: Settlement
  settled: SettleOutcome
  answered: AnsweredRequest
  /** Writes what was logged once more. */
  log(): void
}

/** Answers `request` with everything real. */
export async function recordOne(deps: AppDeps, request: Request): Promise<Recording> {
  const noted: Partial<Recording> = {}
  const lines: (() => void)[] = []
  const app = buildApp({
    ...deps,
    ledger: {
      ...deps.ledger,
      async reserve(asked) {
        noted.reserve = asked
        noted.reserved = await deps.ledger.reserve(asked)
        return noted.reserved
      },
    },
    settler: {
      ...deps.settler,
      async resolve(resolution) {
        if (resolution.kind !== 'settle') return
        noted.settlement = resolution.settlement
        noted.settled = await deps.ledger.settle(resolution.settlement)
      },
    },
    metrics: {
      ...deps.metrics,
      answered(answered) {
        noted.answered = answered
      },
    },
    logger: noteCalls(deps.logger, (call) => lines.push(call)),
  })
  const response = await app.handle(request)
  assert(response.status === 200, `the request was answered: ${response.status} ${await response.text()}`)
  const { reserve, reserved, settlement, settled, answered } = noted
  assert(reserve && reserved && settlement && settled && answered && lines.length > 0, 'every part was called')
  return { reserve, reserved, settlement, settled, answered, log: () => runAll(lines) }
}

function runAll(calls: readonly (() => void)[]): void {
  for (const call of calls) call()
}

/** The same logger, which also hands out each call to be made again, whatever its methods are. */
function noteCalls(logger: Logger, note: (call: () => void) => void): Logger {
  const methods = Object.entries(logger).map(([name, method]: [string, (...values: unknown[]) => unknown]) => [
    name,
    (...values: unknown[]) => {
      note(() => void method(...values))
      return method(...values)
    },
  ])
  return Object.fromEntries(methods) as Logger
}
