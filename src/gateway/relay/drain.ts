/** Reads an upstream on after its client has gone, within bounds, to learn the exact usage. */
import type { DisconnectPolicy } from '@/catalog/types'
import { itemsOf } from '@/gateway/attempt/repeats'
import type { StreamBatch, StreamSource } from '@/gateway/attempt/stream-source'
import type { Meter } from '@/gateway/charge/meter'

/** Counts the drains under way per provider. */
export interface DrainSlots {
  /** Takes a slot and returns the way to give it back, or undefined where all are taken. */
  take(provider: string, limit: number): (() => void) | undefined
}

/** Creates the slots of one process. */
export function createDrainSlots(): DrainSlots {
  const taken = new Map<string, number>()
  return {
    take(provider, limit) {
      const count = taken.get(provider) ?? 0
      if (count >= limit) return undefined
      taken.set(provider, count + 1)
      return () => taken.set(provider, (taken.get(provider) ?? 1) - 1)
    },
  }
}

/** Feeds the rest of the stream, reads already under way first, to the meter until it ends or the policy's time is up; then the upstream is let go. */
export async function drainUpstream(
  source: StreamSource,
  underWay: Promise<StreamBatch>[],
  meter: Meter,
  policy: Extract<DisconnectPolicy, { kind: 'drain' }>,
): Promise<void> {
  const timer = setTimeout(() => source.abort(), policy.maxMs)
  try {
    for (;;) {
      const batch = await (underWay.shift() ?? source.next())
      if (batch.kind === 'failed') return
      const events = batch.kind === 'done' ? batch.events : itemsOf(batch).flatMap((item) => item.events)
      for (const event of events) meter.observe(event)
      if (batch.kind === 'done') return
    }
  } finally {
    clearTimeout(timer)
  }
}
