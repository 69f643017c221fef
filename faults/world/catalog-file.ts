/** The catalogue of the suite's gateways: one model per way in which a provider is configured, all at the same plain prices. */

/** USD per 1,000,000 tokens; a token of input costs 1,000 nano-USD, one of output 2,000. */
const PRICING = { inputPer1mTokens: 1, outputPer1mTokens: 2 }
export const INPUT_NANO = 1_000
export const OUTPUT_NANO = 2_000
/** Must appear nowhere but in the calls to the provider. */
export const UPSTREAM_SECRET = 'sk-upstream-canary-5f0e8d21c7'
/** The usual limit of a model's output. */
export const MAX_OUTPUT_TOKENS = 4_096

type Timeouts = { connectMs: number; firstByteMs: number; idleMs: number; totalMs: number }
type Entry = {
  baseUrl?: string
  timeouts?: Timeouts
  onDisconnect?: Record<string, unknown>
  before?: string
  maxOutputTokens?: number
}

const PATIENT: Timeouts = { connectMs: 2_000, firstByteMs: 20_000, idleMs: 20_000, totalMs: 120_000 }
export const BRISK: Timeouts = { connectMs: 500, firstByteMs: 800, idleMs: 800, totalMs: 3_000 }

/** What is special about each model. `before` names a provider that is tried first. */
function entries(upstreamUrl: string, tlsUrl: string): Record<string, Entry> {
  const isolated = ['status', 'broken', 'late', 'stale', 'flood', 'mixed'].map((name): [string, Entry] => [name, {}])
  return {
    /** The traffic of every fault. */
    steady: {},
    brisk: { timeouts: BRISK },
    drain: { onDisconnect: { policy: 'drain', maxSeconds: 100, maxConcurrent: 4 } },
    refused: { baseUrl: 'http://127.0.0.1:1/v1', timeouts: BRISK },
    nowhere: { baseUrl: 'http://no-such-host.invalid/v1', timeouts: BRISK },
    /** An address kept free for documentation: packets to it go nowhere. */
    blackhole: { baseUrl: 'http://192.0.2.1/v1', timeouts: BRISK },
    untrusted: { baseUrl: `${tlsUrl}/v1`, timeouts: BRISK },
    second: { before: 'first', timeouts: BRISK },
    first: { baseUrl: `${upstreamUrl}/first/v1`, timeouts: BRISK },
    ...Object.fromEntries(isolated),
    /** Gives thousands of words in one stream. */
    strange: { maxOutputTokens: 16 * MAX_OUTPUT_TOKENS },
  }
}

/** The model id of an entry. */
export const modelId = (name: string): string => `svc/${name}`

/** The file's text. Each entry has a provider of its own, so that one that is shunned takes no other with it. */
export function catalogText(upstreamUrl: string, tlsUrl: string): string {
  const all = Object.entries(entries(upstreamUrl, tlsUrl))
  const providers = all.map(([name, entry]) => [
    name,
    {
      format: 'chat-completions',
      baseUrl: entry.baseUrl ?? `${upstreamUrl}/v1`,
      keys: [UPSTREAM_SECRET],
      timeouts: entry.timeouts ?? PATIENT,
      ...(entry.onDisconnect && { onDisconnect: entry.onDisconnect }),
    },
  ])
  const models = all.map(([name, entry]) => ({
    id: modelId(name),
    name,
    created: 1_760_000_000,
    ownedBy: 'scripted',
    targets: [...(entry.before ? [entry.before] : []), name].map((provider) => ({ provider, model: 'scripted' })),
    pricing: PRICING,
    contextLength: 128_000,
    maxOutputTokens: entry.maxOutputTokens ?? MAX_OUTPUT_TOKENS,
    capabilities: ['tools'],
  }))
  return JSON.stringify({
    service: 'svc',
    providers: Object.fromEntries(providers),
    models,
    tiers: [],
    limits: { requestsPerMinute: 1_000_000, tokensPerMinute: 1_000_000_000, concurrency: 10_000 },
  })
}
