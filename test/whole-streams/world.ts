/** The gateway of these tests: a provider of each format, others that are silent or slow, and a transport that cuts their streams. */
import { CLIENTS } from '@test/matrix/clients/index'
import { type CatalogFile, startGateway, type TestGateway } from '@test/support/gateway'
import { FORMAT_NAMES, type FormatName } from '@/chat/format-name'
import { assembledBy } from './assembled'
import { MOST_TOKENS, promptOf, questionIn } from './question'
import type { Said } from './script'
import { createTransport, type Transport } from './transport'

/**
 * How the gateway comes to its answer. `late`: its client was told a status before anybody answered; `hedged`: the provider was asked
 * beside a silent one; `beside`: a silent one was asked beside the provider, which began late.
 */
export type Way = 'plain' | 'late' | 'hedged' | 'beside'

type Asked = { client: FormatName; provider: FormatName; way: Way; reads: readonly Uint8Array[] }

export interface World {
  /** What the client's library assembles from the gateway. Throws if the gateway did not come to the answer by that way. */
  ask(asked: Asked): Promise<Said>
  /** What the library of the provider's format assembles from the same stream without a gateway. */
  askDirectly(provider: FormatName, reads: readonly Uint8Array[]): Promise<Said>
  /** From now on streams are answered with keep-alives at once, or as ever. */
  setLate(isLate: boolean): void
  /** How many questions were at two providers at the same time. */
  besides(): number
  stop(): Promise<void>
}

/** What a provider was slow or silent is remembered of it: each is asked once, if that may be. So many of each format. */
const SILENT_PROVIDERS = 100
export const SLOW_PROVIDERS = 50
/** After so long another is asked beside a silent one, after twice as long in its place: far enough apart for a busy machine. */
const HEDGE_MS = 800
const TIMEOUTS = { connectMs: 20_000, firstByteMs: 60_000, idleMs: 60_000, totalMs: 300_000, hedgeMs: HEDGE_MS }

/** Starts it. */
export async function startWorld(): Promise<World> {
  let root = ''
  const gateway = await startGateway({
    respond: () => new Response(null, { status: 599 }),
    catalog(file) {
      root = new URL(String(file.providers.provider1?.baseUrl)).origin
      for (const format of FORMAT_NAMES) {
        addProvider(file, format, format)
        for (let index = 0; index < SLOW_PROVIDERS; index++) addProvider(file, format, `slow-${format}-${index}`)
        for (let index = 0; index < SILENT_PROVIDERS; index++) addProvider(file, format, `silent-${format}-${index}`)
      }
    },
  })
  const { key } = await gateway.customer('1000000')
  return createWorld(
    gateway,
    createTransport(root, () => gateway.url),
    { root, key },
  )
}

/** Adds a provider below the address of the first one, and a model `svc/<name>` at it that may write as much as is ever asked for. */
export function addProvider(file: CatalogFile, format: FormatName, name: string): void {
  const root = new URL(String(file.providers.provider1?.baseUrl)).origin
  const path = format === 'chat-completions' || format === 'responses' ? '/v1' : ''
  file.providers[name] = { format, baseUrl: `${root}/${name}${path}`, keys: [`sk-${name}`], timeouts: TIMEOUTS }
  const sizes = { contextLength: 1_000_000, maxOutputTokens: MOST_TOKENS }
  file.models.push({ ...file.models[0], ...sizes, id: `svc/${name}`, targets: [{ provider: name, model: name }] })
}

function createWorld(gateway: TestGateway, transport: Transport, { root, key }: { root: string; key: string }): World {
  const { deps } = gateway.gateway
  const usualMs = deps.lateAfterMs
  const counts = new Map<string, number>()
  let besides = 0

  function count(name: string): number {
    const before = counts.get(name) ?? 0
    counts.set(name, before + 1)
    return before
  }

  function modelsFor(way: Way, provider: FormatName): [model: string, ...fallback: string[]] {
    const silent = () => `svc/silent-${provider}-${count(`silent ${provider}`) % SILENT_PROVIDERS}`
    if (way === 'hedged') return [silent(), `svc/${provider}`]
    if (way === 'beside') return [`svc/slow-${provider}-${count(provider) % SLOW_PROVIDERS}`, silent()]
    return [`svc/${provider}`]
  }

  return {
    async ask({ client, provider, way, reads }) {
      const name = `q-${count('question')}`
      const isBeside = way === 'beside'
      const begins = {
        late: transport.told(name),
        beside: transport.silentAsked(name),
        plain: undefined,
        hedged: undefined,
      }
      transport.script(name, { reads, begins: begins[way], isBeside })
      const [model, ...fallback] = modelsFor(way, provider)
      const body = questionIn(client, promptOf(name), fallback)
      const sent = await CLIENTS[client].send({ baseUrl: gateway.url, key, model, mode: 'stream', body })
      const said = assembledBy(client, sent)
      const isLate = sent.headers.get('x-svc-model') === null
      if (isLate !== (way === 'late')) throw new Error(`asked ${way}, but the answer is ${isLate ? '' : 'not '}late`)
      if (transport.wereBeside(name)) besides++
      transport.forget(name)
      return said
    },
    async askDirectly(provider, reads) {
      const name = `q-${count('question')}`
      transport.script(name, { reads, begins: undefined, isBeside: false })
      const body = questionIn(provider, promptOf(name), [])
      const sending = { baseUrl: `${root}/direct`, key: 'sk-direct', model: 'upstream', mode: 'stream' as const, body }
      const said = assembledBy(provider, await CLIENTS[provider].send(sending))
      transport.forget(name)
      return said
    },
    setLate(isLate) {
      deps.lateAfterMs = isLate ? 0 : usualMs
    },
    besides: () => besides,
    async stop() {
      transport.stop()
      await gateway.stop()
    },
  }
}
