/** Everything that a run stands on: stores, mock upstream, load process, and every peer that could be started. */
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type LoadClient, startLoadClient } from '@bench/machine/load-client'
import { type BenchStores, openStores } from '@bench/machine/stores'
import { type MockUpstream, startMockUpstream } from '@bench/machine/upstream'
import type { Parties } from '@bench/machine/usage'
import type { PeerKind, Prepared, Traffic } from '@bench/peers/peer'
import type { PeerEntry } from '@bench/report/results'
import { type RunningPeer, runPeer } from './run-peer'

/** A peer that runs, and how further ones of its kind are started. */
export type Contestant = { kind: PeerKind; prepared: Prepared; running: RunningPeer; logPath: string }

export type World = {
  stores: BenchStores
  upstream: MockUpstream
  client: LoadClient
  contestants: Contestant[]
  entries: PeerEntry[]
  close(): Promise<void>
}

/** What every server has to answer before it takes part. */
export const FIRST_TRAFFIC: Traffic = {
  ...{ client: 'chat-completions', provider: 'chat-completions', model: 'json', stream: false },
  promptBytes: 1024,
}
const LOG_TAIL_CHARS = 300

/** Starts it all on data below `folder`. A peer that can't be had or does not answer is left out, with the reason. */
export async function openWorld(
  folder: string,
  kinds: readonly PeerKind[],
  customers: number,
  say: (line: string) => void,
): Promise<World> {
  const [stores, upstream] = await Promise.all([openStores(folder, customers), startMockUpstream()])
  const client = startLoadClient()
  const contestants: Contestant[] = []
  const entries: PeerEntry[] = []
  for (const kind of kinds) {
    const begun = await enter(kind, { folder, upstreamPort: upstream.port, stores })
    const entry = { name: kind.name, state: kind.state }
    entries.push('absent' in begun ? { ...entry, absent: begun.absent } : entry)
    say('absent' in begun ? `  ${kind.name}: left out: ${begun.absent}` : `  ${kind.name}: ${kind.state}`)
    if (!('absent' in begun)) contestants.push(begun)
  }
  return {
    ...{ stores, upstream, client, contestants, entries },
    async close() {
      await Promise.all(contestants.map(({ running }) => running.stop()))
      await Promise.all([client.stop(), upstream.stop()])
      await stores.close()
    },
  }
}

/** Whose processor time is read while a peer is measured. */
export function partiesOf(
  world: World,
  { kind, running }: { kind: Pick<PeerKind, 'usesStores'>; running: Pick<RunningPeer, 'pids'> },
): Parties {
  return {
    peer: running.pids,
    redis: kind.usesStores ? [world.stores.redisPid] : [],
    postgres: kind.usesStores ? [world.stores.postgresPid] : [],
    client: [world.client.pid],
    upstream: [world.upstream.pid],
  }
}

async function enter(
  kind: PeerKind,
  { folder, upstreamPort, stores }: { folder: string; upstreamPort: number; stores: BenchStores },
): Promise<Contestant | { absent: string }> {
  const own = join(folder, kind.name.replaceAll(/\W+/g, '-'))
  await mkdir(own, { recursive: true })
  const prepared = await kind.prepare({ folder: own, upstreamPort, stores })
  if ('absent' in prepared) return prepared
  const logPath = join(own, 'output.log')
  try {
    return { kind, prepared, logPath, running: await runPeer(prepared, logPath, FIRST_TRAFFIC) }
  } catch (error) {
    const log = (await readFile(logPath, 'utf8').catch(() => '')).slice(-LOG_TAIL_CHARS)
    return { absent: `it did not start: ${error instanceof Error ? error.message : error} ${log}`.trim() }
  }
}
