/** Small worlds for tests of routing: a catalogue in a few words, requests, and a clock that only moves when told to. */
import { mapAliases } from '@/catalog/aliases'
import type { Capability, Catalog, Model, Provider, Target, Tier } from '@/catalog/types'
import type { FormatName } from '@/chat/format-name'
import type { ChatRequest } from '@/chat/request'
import type { Dialect } from '@/dialects/dialect'
import { FORMATS } from '@/formats/index'
import type { Clock } from '@/lib/clock'
import type { Pico } from '@/lib/money'

const ALL_CAPABILITIES: Capability[] = ['tools', 'images', 'files', 'audio', 'reasoning', 'json-schema']

export type ManualClock = Clock & { advance(milliseconds: number): void }

/** A clock at `startMs` that stands still. */
export function manualClock(startMs = 1_000_000): ManualClock {
  let nowMs = startMs
  return {
    now: () => nowMs,
    monotonic: () => nowMs,
    advance(milliseconds) {
      nowMs += milliseconds
    },
  }
}

/** A provider with `keyCount` keys `k1`, `k2`, … of equal weight. */
export function providerOf(name: string, changes: Partial<Provider> = {}, keyCount = 1): Provider {
  return {
    name,
    format: 'chat-completions' satisfies FormatName,
    dialect: dialectOf(changes.format ?? 'chat-completions'),
    baseUrl: `http://${name}.test`,
    apiVersion: 'v1beta',
    keys: Array.from({ length: keyCount }, (_, index) => ({
      id: `k${index + 1}`,
      secret: `secret${index}`,
      weight: 1,
    })),
    timeouts: { connectMs: 1_000, firstByteMs: 20_000, idleMs: 20_000, totalMs: 60_000 },
    isProxied: false,
    maxConcurrency: Number.POSITIVE_INFINITY,
    headers: {},
    onDisconnect: { kind: 'abort' },
    quirks: new Set(),
    passFields: new Set(),
    betas: undefined,
    ...changes,
  }
}

/** How a format is reached as it is published. */
function dialectOf(name: FormatName): Dialect {
  const format = FORMATS.get(name)
  if (!format) throw new Error(`no format ${name}`)
  return format.endpoint
}

/** One target at `provider`. */
export function targetOf(provider: Provider, model = 'upstream'): Target {
  return { provider, model, quirks: new Set() }
}

/** A model that can do everything; `usd` is its price per 1,000,000 tokens of input, output costs four times that. */
export function modelOf(id: string, providers: Provider[], changes: Partial<Model> & { usd?: number } = {}): Model {
  const { usd = 1, ...rest } = changes
  const input = Math.round(usd * 1_000_000) as Pico
  const output = Math.round(usd * 4_000_000) as Pico
  return {
    id,
    aliases: [],
    kind: 'chat',
    name: id,
    created: 1_760_000_000,
    ownedBy: 'test',
    targets: providers.map((provider) => targetOf(provider, `${id.replace('svc/', '')}-at-${provider.name}`)),
    pricing: {
      base: { input, cacheRead: input, cacheWrite5m: input, cacheWrite1h: input, output },
      steps: [],
    },
    contextLength: 100_000,
    maxOutputTokens: 10_000,
    capabilities: new Set(ALL_CAPABILITIES),
    fallback: [],
    tokenizerSafetyFactor: 1,
    ...rest,
  }
}

/** A tier over `candidates`. */
export function tierOf(id: string, strategy: string, candidates: Model[], weights: Record<string, number> = {}): Tier {
  return {
    id,
    aliases: [],
    name: id,
    created: 1_760_000_000,
    contextLength: 100_000,
    strategy,
    weights: new Map(Object.entries(weights)),
    observe: 0,
    candidates,
  }
}

/** A catalogue of these models and tiers. */
export function catalogOf(models: Model[], tiers: Tier[] = []): Catalog {
  const providers = models.flatMap((model) => model.targets.map((target) => target.provider))
  return {
    service: 'svc',
    providers: new Map(providers.map((provider) => [provider.name, provider])),
    models: new Map(models.map((model) => [model.id, model])),
    tiers: new Map(tiers.map((tier) => [tier.id, tier])),
    aliases: mapAliases([...models, ...tiers]),
    limits: { requestsPerMinute: 600, tokensPerMinute: 2_000_000, concurrency: 200 },
  }
}

/** A request with one message. */
export function requestOf(changes: Partial<ChatRequest> = {}, text = 'Hi'): ChatRequest {
  return {
    model: 'svc/alpha',
    stream: false,
    system: [],
    turns: [{ role: 'user', content: [{ type: 'text', text }] }],
    tools: [],
    sampling: {},
    choices: 1,
    output: { type: 'text' },
    fallback: [],
    wantsUsage: false,
    extensions: {},
    ...changes,
  }
}
