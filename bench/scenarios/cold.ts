/** Keys that nobody has used since the ledger's store was lost: all of them at once, each for the first time. */

import { addRound, type Results } from '@bench/report/results'
import { COLD } from '@bench/report/scenario-names'
import { type Contestant, FIRST_TRAFFIC, type World } from '@bench/world/world'

const KEYS = 300
const CONNECTIONS = 200
const TIMEOUT_MS = 20_000
/** What the gateway gets to notice that the store has lost everything. */
const NOTICE_MS = 1_000

/** Empties the store, then sends one request with each of so many new keys. */
export async function measureColdKeys(world: World, peer: Contestant, results: Results): Promise<void> {
  const keys = await world.stores.newKeys(KEYS)
  await world.stores.bank.redis.call('FLUSHALL')
  await Bun.sleep(NOTICE_MS)
  const shot = peer.running.shot(FIRST_TRAFFIC)
  if (!shot) return
  const job = { kind: 'once', shot: { ...shot, keys }, connections: CONNECTIONS, timeoutMs: TIMEOUT_MS } as const
  const result = await world.client.run(job)
  const refused = KEYS - result.answered
  addRound(results.rows, COLD, peer.kind.name, {
    refused,
    requestsPerSecond: result.answered / result.seconds,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
  })
}
