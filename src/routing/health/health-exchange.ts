/** Shares open circuits and paused keys among gateways. Each gateway reads them every second, or every five seconds if idle. */
import type { Catalog, Provider } from '@/catalog/types'
import { sha256Hex } from '@/lib/ids'
import type { Logger } from '@/lib/logger'
import { createWorkerLoop } from '@/lib/worker-loop'
import noteText from './note-health.lua' with { type: 'text' }
import readText from './read-health.lua' with { type: 'text' }
import withdrawText from './withdraw-health.lua' with { type: 'text' }

/** A target's state is `open`. A key's is `cooling` or `out`. A latency's is its milliseconds. */
type HealthState = 'open' | 'cooling' | 'out' | number

/** `subject` is a prefix and an id. Prefixes: `target:`, `key:`, `promise:` (`backoff-windows.ts`), `stream:`, `whole:` (`latency.ts`). */
export type HealthNote = { subject: string; state: HealthState; remainingMs: number; isOwn: boolean }

export interface HealthExchange {
  publish(subject: string, state: HealthState, forMs: number): void
  withdraw(subject: string): void
  /** Notes that a request has come, so that reads are soon and frequent. Does no I/O; call it for each request. */
  stayClose(): void
  /** Starts reading, and calls `listener` each time with all valid notes. */
  start(listener: (notes: HealthNote[]) => void): void
  stop(): Promise<void>
}

type RunScript = (text: string, key: string, args: (string | number)[]) => Promise<unknown>

type ExchangeOptions = {
  run: RunScript
  /** A unique id of this gateway, for example random. Without `|`. */
  gatewayId: string
  /** A digest of the provider's address in this catalogue; undefined for unknown providers. See {@link providerAddresses}. */
  addressOf(provider: string): string | undefined
  logger: Logger
  /** Milliseconds between reads while requests come. Default {@link READ_INTERVAL_MS}. */
  intervalMs?: number
  /** Milliseconds between reads while idle. Default {@link IDLE_INTERVAL_MS}. */
  idleIntervalMs?: number
}

const READ_INTERVAL_MS = 1_000
const IDLE_INTERVAL_MS = 5_000
const NAME = 'routing:health'
const ADDRESS_CHARS = 16

/** The exchange of a gateway that runs alone. */
export const NO_EXCHANGE: HealthExchange = {
  publish() {},
  withdraw() {},
  stayClose() {},
  start() {},
  stop: async () => {},
}

/** Creates an exchange over Redis. */
export function createHealthExchange(options: ExchangeOptions): HealthExchange {
  const { run, gatewayId, addressOf, logger } = options
  const { intervalMs = READ_INTERVAL_MS, idleIntervalMs = IDLE_INTERVAL_MS } = options
  let isReachable = true
  /** Whether a request has come since the last read began. */
  let isAsked = false
  let readAtMs = Number.NEGATIVE_INFINITY
  let tell: (notes: HealthNote[]) => void = () => undefined
  const reading = createWorkerLoop({
    async round() {
      isAsked = false
      readAtMs = performance.now()
      const reply = await attempt(readText, [])
      if (reply !== undefined && !reading.isStopping()) tell(parseNotes(reply, gatewayId, addressOf))
      return isAsked ? intervalMs : idleIntervalMs
    },
    onFailure(error) {
      logger.error('health_notes_not_adopted', { error })
      return intervalMs
    },
  })

  async function attempt(text: string, args: (string | number)[]): Promise<unknown> {
    try {
      const reply = await run(text, NAME, args)
      isReachable = true
      return reply
    } catch (error) {
      if (isReachable) logger.warn('health_exchange_unreachable', { error })
      isReachable = false
      return undefined
    }
  }

  return {
    publish(subject, state, forMs) {
      const noted = notedAs(subject, addressOf)
      if (noted) void attempt(noteText, [noted, gatewayId, state, Math.ceil(forMs), firstStays(subject)])
    },
    withdraw(subject) {
      const noted = notedAs(subject, addressOf)
      if (noted) void attempt(withdrawText, [noted, gatewayId, firstStays(subject)])
    },
    stayClose() {
      if (isAsked) return
      isAsked = true
      reading.hurry(Math.max(0, readAtMs + intervalMs - performance.now()))
    },
    start(listener) {
      tell = listener
      reading.start()
    },
    stop: reading.stop,
  }
}

/** Short digests of providers' addresses, by name. Two gateways mean the same upstream if name, address and dialect are equal. */
export function providerAddresses({ providers }: Catalog): ReadonlyMap<string, string> {
  const digest = ({ name, baseUrl, dialect }: Provider) =>
    sha256Hex([name, baseUrl, dialect.name].filter(Boolean).join(' ')).slice(0, ADDRESS_CHARS)
  return new Map([...providers.values()].map((provider) => [provider.name, digest(provider)]))
}

/** The subject with its provider's address; ids of all subjects begin with the provider's name. */
function notedAs(subject: string, addressOf: ExchangeOptions['addressOf']): string | undefined {
  const address = addressOf(subject.slice(subject.indexOf(':') + 1).split('/', 1)[0] ?? '')
  return address === undefined ? undefined : `${address} ${subject}`
}

/** 1 if nobody may replace the first gateway's note, as for a target: the gateway that opened the circuit first probes the target. */
function firstStays(subject: string): number {
  return subject.startsWith('target:') ? 1 : 0
}

/** Parses a reply of read-health.lua, without invalid notes (from another version) and unknown upstreams. */
function parseNotes(reply: unknown, gatewayId: string, addressOf: ExchangeOptions['addressOf']): HealthNote[] {
  const fields = Array.isArray(reply) ? reply.map(String) : []
  const notes: HealthNote[] = []
  for (let index = 0; index + 3 < fields.length; index += 4) {
    const [noted = '', owner, word, remaining] = fields.slice(index, index + 4)
    const subject = noted.slice(noted.indexOf(' ') + 1)
    const state = readState(word)
    if (state === undefined || notedAs(subject, addressOf) !== noted) continue
    notes.push({ subject, state, remainingMs: Number(remaining), isOwn: owner === gatewayId })
  }
  return notes
}

function readState(word: string | undefined): HealthState | undefined {
  if (word === 'open' || word === 'cooling' || word === 'out') return word
  return word !== undefined && /^\d{1,9}$/.test(word) ? Number(word) : undefined
}
