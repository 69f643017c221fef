/** What several faults promise alike, as checks of what clients saw. */
import { type Stage, seenDuring } from '@faults/fault'
import type { Sighting } from '@faults/world/client'
import { PATIENCE_MS, until } from '@test/support/until'

/** The status by which each format says that the service cannot take requests now. */
export const UNAVAILABLE: ReadonlySet<number> = new Set([503, 529])
/** Refusals come within a second; the rest is what a busy machine adds. Times are judged in the long form only. */
const REFUSAL_LIMIT_MS = 1_500
/** How long a busy machine may take until the first of all clients is refused. */
const REFUSING_LIMIT_MS = 5_000

/** Leaves the fault on for so long, and until somebody was refused, and looks at what was seen by then. */
export async function expectClosedFor<World>(stage: Stage<World>, leastMs: number): Promise<void> {
  await Bun.sleep(leastMs)
  const isRefusing = () => seenDuring(stage).some(({ ending }) => ending === 'refused')
  await until(isRefusing, 'a refusal', stage.isQuick ? PATIENCE_MS : REFUSING_LIMIT_MS).catch(() => undefined)
  expectClosed(stage)
}

/** While the ledger cannot be reached: open answers end well, everything else is refused, quickly and with advice. */
function expectClosed<World>(stage: Stage<World>): void {
  const seen = seenDuring(stage)
  const refusals = seen.filter(({ ending }) => ending === 'refused')
  stage.expect(refusals.length > 0, 'nobody was refused')
  expectUnavailable(stage, refusals)
  const others = seen.filter(({ ending }) => ending !== 'refused' && ending !== 'complete')
  for (const { ending, marker } of others) stage.expect(false, `${marker} ended ${ending}`)
}

/** Each of these was refused for a moment, soon, and told when to come back. */
export function expectUnavailable<World>(stage: Stage<World>, refusals: readonly Sighting[]): void {
  for (const { status, retryAfter, durationMs } of refusals) {
    stage.expect(UNAVAILABLE.has(status), `a refusal had the status ${status}`)
    stage.expect(retryAfter !== null, 'a refusal came without retry-after')
    stage.expect(stage.isQuick || durationMs < REFUSAL_LIMIT_MS, `a refusal took ${Math.round(durationMs)} ms`)
  }
}
