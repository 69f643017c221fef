/** Ten thousand streams at once, each with a piece a second: what one of them weighs, and how late the latest piece is. */
import { readTree } from '@bench/machine/proc'
import type { Traffic } from '@bench/peers/peer'
import { addRound, type Results } from '@bench/report/results'
import { OPEN_STREAMS } from '@bench/report/scenario-names'
import { type Contestant, partiesOf, type World } from '@bench/world/world'

const TRAFFIC: Traffic = {
  ...{ client: 'chat-completions', provider: 'chat-completions', model: 'stream-1000-1000', stream: true },
  promptBytes: 1024,
}
const STREAMS = 10_000
const RAMP_MS = 6_000
const HOLD_MS = 3_000
/** How long connections that were cut get to be noticed before another peer has the machine. */
const AFTERMATH_MS = 1_500
const OWN_DESCRIPTORS = 400
const BYTES_PER_KB = 1000
/** Peers that collapse under a fraction of it would only take up the time. */
const PEERS: ReadonlySet<string> = new Set(['direct', 'nginx', 'bare Bun', 'Bifrost', 'lean', 'svc-gateway'])

/** How many streams a process can carry that takes two descriptors for each, given how many files it may open. */
export function streamsFor(openFiles: number): number {
  return Math.max(0, Math.min(STREAMS, Math.floor((openFiles - OWN_DESCRIPTORS) / 2)))
}

/** Opens the streams at one peer after another, once per round. */
export async function runOpenStreams(world: World, results: Results, round: number): Promise<void> {
  const connections = streamsFor(await openFileLimit(world.client.pid))
  if (connections < STREAMS && round === 0) {
    results.notes.push(`${OPEN_STREAMS}: ${connections} streams, because a process may open no more files here.`)
  }
  for (const peer of world.contestants) {
    if (!PEERS.has(peer.kind.name)) continue
    await measurePeer(world, results, peer, connections)
    await Bun.sleep(AFTERMATH_MS)
  }
}

async function measurePeer(world: World, results: Results, peer: Contestant, connections: number): Promise<void> {
  const shot = peer.running.shot(TRAFFIC)
  if (!shot) return
  const { peer: pids } = partiesOf(world, peer)
  const before = readTree(pids)
  let during = before
  let open = 0
  const job = { kind: 'held', shot, connections, rampMs: RAMP_MS, durationMs: HOLD_MS } as const
  const result = await world.client.run(job, (count) => {
    open = count
    during = readTree(pids)
  })
  const failed = Object.values(result.failures).reduce((sum, count) => sum + count, 0)
  const grownBytes = during.residentBytes - before.residentBytes
  addRound(results.rows, OPEN_STREAMS, peer.kind.name, {
    openStreams: open,
    failedShare: failed / connections,
    ...(pids.length > 0 && open > 0 && { kilobytesPerStream: grownBytes / open / BYTES_PER_KB }),
    firstTokenP50Ms: result.firstToken.p50,
    firstTokenP99Ms: result.firstToken.p99,
    chunkDelayP99Ms: result.chunkDelay.p99,
    worstDelayMs: result.chunkDelay.worst,
  })
}

async function openFileLimit(pid: number): Promise<number> {
  return parseOpenFileLimit(await Bun.file(`/proc/${pid}/limits`).text())
}

/** The soft limit of open files in the text of /proc/PID/limits. */
export function parseOpenFileLimit(limits: string): number {
  return Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? 0)
}
