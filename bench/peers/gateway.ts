/** This gateway as a peer: everything on, on real stores, with a key of another account for every request. */
import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Shot, WireFormat } from '@bench/load/job'
import { type PeerKind, type Prepared, type Surroundings, shotWith, type Traffic } from './peer'

/** How that of a checkout is started: as `bun run start` does. */
const commandIn = (root: string) => [process.execPath, join(root, 'src', 'main.ts')]
/** How this one is. */
export const GATEWAY_COMMAND = commandIn(join(import.meta.dir, '..', '..'))
const EXECUTABLE_BUILD = join(import.meta.dir, '..', '..', 'src', 'boot', 'executable', 'build.ts')
const LEAN_PROGRAM = join(import.meta.dir, 'programs', 'lean.ts')
const STATE = 'keys, reserve, settle, usage records, metrics and logs on; Redis and Postgres beside it'
const FORMATS: readonly WireFormat[] = ['chat-completions', 'messages', 'generate-content', 'responses']
/** What the mock upstream is asked for by one traffic or another. */
export const UPSTREAM_MODELS = ['json', 'stream-10-10', 'stream-100-10', 'stream-1000-1000', 'flood-8000']
const PRICING = { inputPer1mTokens: 1, outputPer1mTokens: 2 }
/** Of every account and key: nobody is ever limited. */
export const LIMITS = { requestsPerMinute: 1_000_000, tokensPerMinute: 1_000_000_000, concurrency: 10_000 }
/** Nothing times out because a shared machine is slow; the timers themselves are set all the same. */
const TIMEOUTS = { connectMs: 5_000, firstByteMs: 60_000, idleMs: 60_000, totalMs: 3_600_000 }

/** One process, as `bun run start` starts it. */
export const gateway: PeerKind = {
  name: 'svc-gateway',
  state: STATE,
  usesStores: true,
  modes: ['quick', 'guard', 'full'],
  prepare: (surroundings) => prepare(surroundings, {}),
}

/**
 * The gateway of another checkout of this project, installed there. It has a database of Redis for itself, since its layout may be
 * an older one; what it needs of the accounts it loads from Postgres.
 */
export function gatewayOf(folder: string): PeerKind {
  const command = () => commandIn(resolve(folder))
  return {
    name: 'the other checkout',
    state: `${STATE}; of another checkout`,
    usesStores: true,
    modes: ['guard', 'full'],
    prepare: async (surroundings) => {
      const stores = { ...surroundings.stores, redisUrl: `${surroundings.stores.redisUrl}/2` }
      return { ...(await prepare({ ...surroundings, stores }, {})), command }
    },
  }
}

/** The single executable, built for the run. */
export const gatewayExecutable: PeerKind = {
  name: 'svc-gateway executable',
  state: 'the same, from the file that `bun run executable` writes',
  usesStores: true,
  modes: ['full'],
  prepare: async (surroundings) => {
    const path = join(surroundings.folder, 'svc-gateway')
    const build = Bun.spawn([process.execPath, EXECUTABLE_BUILD, path], { stdio: ['ignore', 'ignore', 'inherit'] })
    if ((await build.exited) !== 0) return { absent: 'its build failed' }
    return { ...(await prepare(surroundings, {})), command: () => [path] }
  },
}

/** Two processes on one port. */
export const gatewayTwice: PeerKind = {
  name: 'svc-gateway × 2',
  state: 'the same with PROCESSES=2',
  usesStores: true,
  modes: ['guard', 'full'],
  onlyScenarios: ['json-64'],
  prepare: (surroundings) => prepare(surroundings, { PROCESSES: '2' }),
}

/** Its traces go to the mock upstream, which answers whatever comes. */
export const gatewayTraced: PeerKind = {
  name: 'svc-gateway traced',
  state: 'the same, each request traced, spans sent by OTLP over HTTP',
  usesStores: true,
  modes: ['guard', 'full'],
  onlyScenarios: ['json-64'],
  prepare: (surroundings) =>
    prepare(surroundings, {
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `http://127.0.0.1:${surroundings.upstreamPort}/v1/traces`,
    }),
}

/** Our own floor: see the program. It has a database of Redis for itself, whose records nobody carries away. */
export const lean: PeerKind = {
  name: 'lean',
  state: 'keys, reserve, settle, usage records and logs in a straight line; no routing, translation or flusher',
  usesStores: true,
  modes: ['quick', 'guard', 'full'],
  prepare: async ({ upstreamPort, stores }) => ({
    command: (port) => [
      ...[process.execPath, LEAN_PROGRAM, String(port), String(upstreamPort)],
      ...[`${stores.redisUrl}/1`, stores.databaseUrl],
    ],
    environment: () => ({ BUN_CONFIG_MAX_HTTP_REQUESTS: '65535' }),
    shot(traffic, port) {
      const isPassed = traffic.client === 'chat-completions' && traffic.provider === traffic.client
      return isPassed ? gatewayShot(traffic, port, stores.keys) : undefined
    },
  }),
}

/** The public id of what a provider of a format calls `model`. */
function publicModel({ provider, model }: Pick<Traffic, 'provider' | 'model'>): string {
  return `svc/${provider}-${model}`
}

/** The catalogue: one provider per format, each with every one of `upstreamModels` at the mock upstream. */
export function catalogText(upstreamPort: number, upstreamModels: readonly string[] = UPSTREAM_MODELS): string {
  const upstream = `http://127.0.0.1:${upstreamPort}`
  const base = { keys: ['sk-bench-upstream'], timeouts: TIMEOUTS }
  const models = FORMATS.flatMap((provider) => upstreamModels.map((model) => ({ provider, model })))
  return JSON.stringify({
    service: 'svc',
    providers: {
      'chat-completions': { ...base, format: 'chat-completions', baseUrl: `${upstream}/v1` },
      messages: { ...base, format: 'messages', baseUrl: upstream },
      'generate-content': { ...base, format: 'generate-content', baseUrl: upstream, apiVersion: 'v1beta' },
      responses: { ...base, format: 'responses', baseUrl: `${upstream}/v1` },
    },
    models: models.map(({ provider, model }) => ({
      ...{ id: publicModel({ provider, model }), name: model, created: 1_760_000_000, ownedBy: 'mock' },
      ...{ targets: [{ provider, model }], pricing: PRICING, contextLength: 4_000_000, maxOutputTokens: 4_096 },
      capabilities: ['tools'],
    })),
    tiers: [],
    limits: LIMITS,
  })
}

async function prepare(surroundings: Surroundings, extra: Record<string, string>): Promise<Prepared> {
  const { folder, upstreamPort, stores } = surroundings
  const catalog = join(folder, 'catalog.json')
  await writeFile(catalog, catalogText(upstreamPort))
  return {
    command: () => GATEWAY_COMMAND,
    environment: (port) => ({ ...gatewayEnvironment({ folder, stores, catalog }, port), ...extra }),
    shot: (traffic, port) => gatewayShot(traffic, port, stores.keys),
  }
}

/** What an operator would set. */
export function gatewayEnvironment(
  { folder, stores, catalog }: Pick<Surroundings, 'folder' | 'stores'> & { catalog: string },
  port: number,
): Record<string, string> {
  return {
    ...{ HOST: '127.0.0.1', PORT: String(port), LOG_LEVEL: 'info', CATALOG: catalog },
    ...{ REDIS_URL: stores.redisUrl, DATABASE_URL: stores.databaseUrl, DATA_DIR: join(folder, 'unused') },
    ...{ SHUTDOWN_TIMEOUT_MS: '3000', BUN_CONFIG_MAX_HTTP_REQUESTS: '65535' },
    // All clients of a measurement come from one address.
    CONNECTIONS_PER_ADDRESS: '1000000',
  }
}

/** The traffic as a client of this gateway sends it; the model is the one of the traffic unless told otherwise. */
export function gatewayShot(
  traffic: Traffic,
  port: number,
  keys: readonly string[],
  model: string = publicModel(traffic),
): Shot {
  switch (traffic.client) {
    case 'chat-completions':
    case 'responses':
      return shotWith(traffic, port, { headers: {}, model, keys: { keyHeader: BEARER, keys } })
    case 'messages': {
      const headers = { 'anthropic-version': '2023-06-01' }
      return shotWith(traffic, port, { headers, model, keys: { keyHeader: { name: 'x-api-key', prefix: '' }, keys } })
    }
    case 'generate-content':
      return shotWith(traffic, port, {
        headers: {},
        model,
        keys: { keyHeader: { name: 'x-goog-api-key', prefix: '' }, keys },
      })
  }
}

const BEARER = { name: 'authorization', prefix: 'Bearer ' }
