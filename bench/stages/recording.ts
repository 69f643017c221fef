/** Sends one real request through a gateway and notes what its parts were called with, to call them with the same again. */

import { type AppDeps, buildApp } from '@/app'
import type { ReserveOutcome, ReserveRequest, Settlement, SettleOutcome } from '@/ledger/outcomes'
import { assert } from '@/lib/assert'
import { type EndedAnswer, tellEnded } from '@/metrics/ended-answer'

export type Recording = {
  reserve: ReserveRequest
  reserved: ReserveOutcome
  settlement: Settlement
  settled: SettleOutcome
  answered: EndedAnswer
  /** Writes its line in the log once more. */
  log(): void
}

/** Answers `request` with everything real. */
export async function recordOne(deps: AppDeps, request: Request): Promise<Recording> {
  const noted: Partial<Recording> = {}
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
    onEnded(answered) {
      noted.answered = answered
    },
  })
  const response = await app.handle(request)
  assert(response.status === 200, `the request was answered: ${response.status} ${await response.text()}`)
  const { reserve, reserved, settlement, settled, answered } = noted
  assert(reserve && reserved && settlement && settled && answered, 'every part was called')
  return { reserve, reserved, settlement, settled, answered, log }

  function log(): void {
    assert(answered, 'it was answered')
    answered.line.isWritten = false
    tellEnded({ answered: () => undefined }, deps.logger)(answered)
  }
}
