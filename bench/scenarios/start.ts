/** How long each server takes from the start of its program to its first good answer, on stores that run already. */

import { addRound, type Results } from '@bench/report/results'
import { START } from '@bench/report/scenario-names'
import { runPeer } from '@bench/world/run-peer'
import { FIRST_TRAFFIC, type World } from '@bench/world/world'

/** Servers that take longer were timed once, when the run began. */
const PATIENCE_MS = 4_000

/** Starts one more of each and ends it again. */
export async function measureStarts(world: World, results: Results): Promise<void> {
  for (const { kind, prepared, running, logPath } of world.contestants) {
    if (running.pids.length === 0 || running.startMs > PATIENCE_MS) continue
    const another = await runPeer(prepared, logPath, FIRST_TRAFFIC)
    addRound(results.rows, START, kind.name, { startMs: another.startMs })
    await another.stop()
  }
}
