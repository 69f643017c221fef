/** Clients that stop reading while the upstream would send each of them megabytes: what a server keeps in memory for one. */
import { readTree } from '@bench/machine/proc'
import type { Traffic } from '@bench/peers/peer'
import { addRound, type Results } from '@bench/report/results'
import { STOPPED } from '@bench/report/scenario-names'
import type { World } from '@bench/world/world'

const TRAFFIC: Traffic = {
  ...{ client: 'chat-completions', provider: 'chat-completions', model: 'flood-8000', stream: true },
  promptBytes: 1024,
}
const READERS = 64
/** Time enough to fill every buffer on the way. */
const HOLD_MS = 2_000
const BYTES_PER_MB = 1e6
const PEERS: ReadonlySet<string> = new Set(['nginx', 'bare Bun', 'Bifrost', 'svc-gateway'])

/** Asks one peer after another. */
export async function measureStoppedReaders(world: World, results: Results): Promise<void> {
  for (const { kind, running } of world.contestants) {
    const shot = running.shot(TRAFFIC)
    if (!shot || !PEERS.has(kind.name)) continue
    const beforeBytes = readTree(running.pids).residentBytes
    let grownBytes = Number.NaN
    const job = { kind: 'stopped', shot, connections: READERS, durationMs: HOLD_MS } as const
    const { answered } = await world.client.run(job, () => {
      grownBytes = readTree(running.pids).residentBytes - beforeBytes
    })
    if (answered < READERS)
      results.notes.push(`${kind.name}, ${STOPPED}: ${answered} of ${READERS} had an answer: no figure`)
    if (answered === READERS)
      addRound(results.rows, STOPPED, kind.name, { megabytesPerReader: grownBytes / answered / BYTES_PER_MB })
  }
}
