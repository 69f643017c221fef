/** Reads the rest of an upstream's answer after the client disconnected, within limits, for usage that the relayed text does not show. */
import type { DisconnectPolicy } from '@/catalog/types'
import type { ChatEvent } from '@/chat/event'
import { itemsOf } from '@/gateway/attempt/repeats'
import type { StreamBatch, StreamSource } from '@/gateway/attempt/stream-source'
import { hasFinalUsage } from '@/gateway/charge/charge'
import type { Meter } from '@/gateway/charge/meter'
import type { RelayedAnswer } from './relayed'

type ReadingPolicy = Exclude<DisconnectPolicy, { kind: 'abort' }>

/** Maximum characters read after the disconnect: far more than any answer has. */
const MAX_DRAIN_CHARS = 16 * 1024 * 1024

/** The policy for reading the rest of an answer after its client disconnected; undefined if it is not read. */
export function drainPolicy(
  {
    provider: { onDisconnect },
    charge: { meter, tools },
    mayReason,
  }: Pick<RelayedAnswer, 'provider' | 'charge' | 'mayReason'>,
  source: Pick<StreamSource, 'hasSent' | 'isFinished'>,
): ReadingPolicy | undefined {
  if (onDisconnect.kind === 'abort' || !source.hasSent()) return undefined
  const isFinished = source.isFinished()
  if (isFinished && hasFinalUsage(meter.reading())) return undefined
  const isOwed = isFinished || mayReason || meter.hasReasoned() || tools !== undefined
  return isOwed || onDisconnect.kind === 'drain' ? onDisconnect : undefined
}

/** Gives the meter the reads in progress (`underWay`) and the remaining stream, up to its end or a limit. Then ends the call. */
export async function drainUpstream(
  source: StreamSource,
  underWay: Promise<StreamBatch>[],
  meter: Meter,
  { maxMs }: ReadingPolicy,
): Promise<void> {
  const timer = setTimeout(() => source.abort(), maxMs)
  let chars = 0
  try {
    while (chars <= MAX_DRAIN_CHARS && !meter.isRunaway()) {
      const batch = await (underWay.shift() ?? source.next())
      if (batch.kind === 'failed') return
      if (batch.kind === 'done') return show(batch.events, meter)
      for (const { sse, events } of itemsOf(batch)) {
        chars += sse.raw.length
        show(events, meter)
      }
      if (meter.hasEnded()) return
    }
  } finally {
    clearTimeout(timer)
  }
}

function show(events: readonly ChatEvent[], meter: Meter): void {
  for (const event of events) meter.observe(event)
}
