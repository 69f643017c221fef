/** What all servers of a comparison have in common: how one is started, and what is sent to it. */
import type { Shot, WireFormat } from '@bench/load/job'
import type { BenchStores } from '@bench/machine/stores'
import type { Mode } from '@bench/report/scenario-names'

/** One kind of request, in nobody's terms: each peer says how it is put to it. */
export type Traffic = {
  client: WireFormat
  provider: WireFormat
  /** As the mock upstream knows it, see bench/mock/main.ts. */
  model: string
  stream: boolean
  promptBytes: number
}

/** What a peer is started with. `folder` is its own. */
export type Surroundings = { folder: string; upstreamPort: number; stores: BenchStores }

/** A server that is ready to be started, as often as one likes: each start takes a port of its own. */
export type Prepared = {
  command(port: number): readonly string[]
  environment?: (port: number) => Record<string, string>
  /** How the traffic is put to it, or undefined where it does not do that. */
  shot(traffic: Traffic, port: number): Shot | undefined
}

/** Why a peer takes no part. It is printed. */
type Absent = { absent: string }

export type PeerKind = {
  name: string
  /** What it does beside passing bytes on; shown beside its figures. */
  state: string
  /** Whether it uses the stores, whose processor time then counts beside its own. */
  usesStores: boolean
  /** Those that it takes part in. Who isn't in `guard` is measured in only the first round of a full run. */
  modes: readonly Mode[]
  /** Undefined: all. */
  onlyScenarios?: readonly string[]
  prepare(surroundings: Surroundings): Promise<Prepared | Absent>
}

/** Where a format is spoken, at any server that speaks it as its makers do. */
function pathOf({ client, stream }: Traffic, model: string): string {
  switch (client) {
    case 'chat-completions':
      return '/v1/chat/completions'
    case 'messages':
      return '/v1/messages'
    case 'generate-content':
      return `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`
    case 'responses':
      return '/v1/responses'
  }
}

/** How many pieces the mock upstream writes for a model such as `stream-100-10`; 0 for models that are not read to their end. */
function piecesOf(model: string): number {
  return Number(/^stream-(\d+)-\d+$/.exec(model)?.[1] ?? 0)
}

/** The traffic as the makers of its format would send it: what a proxy that changes nothing is sent. */
export function plainShot(traffic: Traffic, port: number): Shot | undefined {
  if (traffic.client !== traffic.provider) return undefined
  return shotWith(traffic, port, { headers: { authorization: 'Bearer sk-bench' } })
}

/** The traffic with what is special about a server. */
export function shotWith(
  traffic: Traffic,
  port: number,
  special: { headers: Record<string, string>; model?: string; path?: string; keys?: Pick<Shot, 'keyHeader' | 'keys'> },
): Shot {
  const model = special.model ?? traffic.model
  return {
    port,
    path: special.path ?? pathOf(traffic, model),
    headers: special.headers,
    keys: [],
    ...special.keys,
    format: traffic.client,
    model,
    stream: traffic.stream,
    pieces: traffic.stream ? piecesOf(traffic.model) : 0,
    promptBytes: traffic.promptBytes,
  }
}
