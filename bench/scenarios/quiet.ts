/** What the gateway costs when nobody asks for anything, and whether it gives back the memory of a busy time. */
import { microsecondsBetween, readTree } from '@bench/machine/proc'
import { addRound, type Results } from '@bench/report/results'
import { IDLE, MEMORY } from '@bench/report/scenario-names'
import type { Contestant, World } from '@bench/world/world'

/** The work of the traffic before, such as records on their way, is not what idling costs. */
const SETTLE_MS = 2_000
/**
 * Every few minutes one gateway checks the books, which takes some commands for each account that was ever used, a second or a
 * minute. What idling costs is measured between two checks: once the store has been asked this little for so long.
 */
const QUIET_COMMANDS_PER_SECOND = 50
const QUIET_WINDOW_MS = 1_000
const QUIET_WINDOWS = 2
const MICROSECONDS_PER_SECOND = 1e6

/** How often and how long is looked, and how long a check of the books may go on before. */
type IdlePlan = { rounds: number; durationMs: number; patienceMs: number }

/** Looks at every peer at once, while nothing is sent. */
export async function measureIdle(
  world: World,
  results: Results,
  { rounds, durationMs, patienceMs }: IdlePlan,
): Promise<void> {
  await Bun.sleep(SETTLE_MS)
  if (!(await untilUnchecked(world, patienceMs)))
    results.notes.push(`${IDLE}: the automatic check of the books was running.`)
  for (let round = 0; round < rounds; round++) await measureOnce(world, results, durationMs)
}

/** Whether the store has become quiet within a while. */
async function untilUnchecked(world: World, patienceMs: number): Promise<boolean> {
  const deadlineMs = performance.now() + patienceMs
  const most = QUIET_COMMANDS_PER_SECOND * gatewayProcesses(world) * (QUIET_WINDOW_MS / 1000)
  for (let quiet = 0; quiet < QUIET_WINDOWS; ) {
    if (performance.now() > deadlineMs) return false
    const before = await redisCommands(world)
    await Bun.sleep(QUIET_WINDOW_MS)
    quiet = (await redisCommands(world)) - before < most ? quiet + 1 : 0
  }
  return true
}

async function measureOnce(world: World, results: Results, durationMs: number): Promise<void> {
  const before = world.contestants.map(({ running }) => readTree(running.pids))
  const commandsBefore = await redisCommands(world)
  const startedMs = performance.now()
  await Bun.sleep(durationMs)
  const seconds = (performance.now() - startedMs) / 1000
  const commandsPerSecond = ((await redisCommands(world)) - commandsBefore) / seconds
  for (const [index, { kind, running }] of world.contestants.entries()) {
    const earlier = before[index]
    if (running.pids.length === 0 || !earlier) continue
    const microseconds = microsecondsBetween(earlier, readTree(running.pids))
    addRound(results.rows, IDLE, kind.name, {
      cpuPercent: (microseconds / MICROSECONDS_PER_SECOND / seconds) * 100,
      ...(kind.usesStores && { redisCommandsPerSecond: commandsPerSecond / gatewayProcesses(world) }),
    })
  }
}

/** How much more memory a peer has a while after a busy time than before it, as a share of what it had. */
export function measureMemoryLeft(peer: Contestant, beforeBytes: number, results: Results): void {
  const afterBytes = readTree(peer.running.pids).residentBytes
  addRound(results.rows, MEMORY, peer.kind.name, { memoryLeftShare: afterBytes / beforeBytes - 1 })
}

/** Our own two questions are in the count, and make no difference to it. */
async function redisCommands({ stores }: World): Promise<number> {
  const info = await stores.bank.redis.call('INFO', 'stats')
  return Number(/total_commands_processed:(\d+)/.exec(String(info))?.[1] ?? 0)
}

function gatewayProcesses({ contestants }: World): number {
  const processes = contestants
    .filter(({ kind }) => kind.usesStores)
    .map(({ kind }) => (kind.name.endsWith('× 2') ? 2 : 1))
  return Math.max(
    1,
    processes.reduce((sum: number, count) => sum + count, 0),
  )
}
