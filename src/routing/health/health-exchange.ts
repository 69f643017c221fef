/**
 * Shares what one gateway learns of its providers with all others: open circuits and resting keys. Everything happens in the
 * background: what is published is not waited for, what others say is read about once a second, and while the store is away
 * every gateway simply goes by its own experience.
 */
import type { Catalog } from '@/catalog/types'
import { sha256Hex } from '@/lib/ids'
import type { Logger } from '@/lib/logger'
import { createWorkerLoop } from '@/lib/worker-loop'
import noteText from './note-health.lua' with { type: 'text' }
import readText from './read-health.lua' with { type: 'text' }
import withdrawText from './withdraw-health.lua' with { type: 'text' }

/** Of a target: `open`. Of a key: `cooling` or `out`. Of a latency: how many milliseconds. */
type HealthState = 'open' | 'cooling' | 'out' | number

/** `subject` is `target:`, `key:`, `promise:` (see `promises.ts`), `stream:` or `whole:` (see `latency.ts`) and an id. */
export type HealthNote = { subject: string; state: HealthState; remainingMs: number; isOwn: boolean }

export interface HealthExchange {
  /** Tells the others. Returns at once and never throws. */
  publish(subject: string, state: HealthState, forMs: number): void
  /** Takes it back. */
  withdraw(subject: string): void
  /** Begins to read; `listener` gets everything that holds now, each time. */
  start(listener: (notes: HealthNote[]) => void): void
  stop(): Promise<void>
}

/** Runs a script on one key of the store that all gateways share. */
type RunScript = (text: string, key: string, args: (string | number)[]) => Promise<unknown>

type ExchangeOptions = {
  run: RunScript
  /** Names this gateway among all others, e.g. a random id. Without `|`. */
  gatewayId: string
  /** Gateways of one scope share what they learn; see {@link healthScope}. */
  scope: string
  logger: Logger
  /** Milliseconds between two reads. Default {@link READ_INTERVAL_MS}. */
  intervalMs?: number
}

const READ_INTERVAL_MS = 1_000
const SCOPE_CHARS = 16

/** An exchange for a gateway that is alone. */
export const NO_EXCHANGE: HealthExchange = {
  publish() {},
  withdraw() {},
  start() {},
  stop: async () => {},
}

/** Creates an exchange over the store. */
export function createHealthExchange(options: ExchangeOptions): HealthExchange {
  const { run, gatewayId, scope, logger, intervalMs = READ_INTERVAL_MS } = options
  let isReachable = true
  let tell: (notes: HealthNote[]) => void = () => undefined
  const reading = createWorkerLoop({
    async round() {
      const reply = await attempt(readText, [])
      if (reply !== undefined && !reading.isStopping()) tell(parseNotes(reply, gatewayId))
      return intervalMs
    },
    onFailure(error) {
      logger.error('health_notes_not_adopted', { error })
      return intervalMs
    },
  })

  async function attempt(text: string, args: (string | number)[]): Promise<unknown> {
    try {
      const reply = await run(text, `routing:health:${scope}`, args)
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
      void attempt(noteText, [subject, gatewayId, state, Math.ceil(forMs), firstStays(subject)])
    },
    withdraw(subject) {
      void attempt(withdrawText, [subject, gatewayId, firstStays(subject)])
    },
    start(listener) {
      tell = listener
      reading.start()
    },
    stop: reading.stop,
  }
}

/** The same for gateways with the same providers at the same addresses: one name at two addresses is two upstreams. */
export function healthScope(catalog: Catalog): string {
  const providers = [...catalog.providers.values()].map(({ name, baseUrl }) => `${name} ${baseUrl}`)
  return sha256Hex(providers.sort().join('\n')).slice(0, SCOPE_CHARS)
}

/** A target belongs to the gateway that opened it first: that one probes. */
function firstStays(subject: string): number {
  return subject.startsWith('target:') ? 1 : 0
}

/** Reads a reply of read-health.lua; what another version may have written differently is left out. */
function parseNotes(reply: unknown, gatewayId: string): HealthNote[] {
  const fields = Array.isArray(reply) ? reply.map(String) : []
  const notes: HealthNote[] = []
  for (let index = 0; index + 3 < fields.length; index += 4) {
    const [subject = '', owner, word, remaining] = fields.slice(index, index + 4)
    const state = readState(word)
    if (state === undefined) continue
    notes.push({ subject, state, remainingMs: Number(remaining), isOwn: owner === gatewayId })
  }
  return notes
}

function readState(word: string | undefined): HealthState | undefined {
  if (word === 'open' || word === 'cooling' || word === 'out') return word
  return word !== undefined && /^\d{1,9}$/.test(word) ? Number(word) : undefined
}
