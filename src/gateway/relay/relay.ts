/** Shows an answer in the shape the client asked for, whichever shape the provider chose, and sees that it is settled. */
import { unfold } from '@/chat/unfold'
import type { PassHooks, Repair } from '@/formats/format'
import type { Begun } from '@/gateway/attempt/attempt'
import { EMPTY_SOURCE } from '@/gateway/attempt/stream-source'
import { isUsageStated, type OpenCharge, usageNow } from '@/gateway/charge/open-charge'
import { CLIENT_CLOSED_STATUS } from '@/gateway/hold/request-facts'
import { createSignatureCollector } from '@/gateway/signatures/signature-collector'
import type { HeaderFacts } from './headers'
import { relayJson } from './relay-json'
import { type RelayDeps, relayStream } from './relay-stream'
import { endAnswer, type RelayedAnswer } from './relayed'

/** Relays what has begun. Whatever goes wrong before a stream owns the answer ends its attempt as well. */
export async function relay(
  deps: RelayDeps,
  begun: Begun,
  origin: Omit<RelayedAnswer, 'signatures' | 'hooks'>,
  told: HeaderFacts,
): Promise<Response> {
  const isTranslated = origin.providerFormat !== origin.client.format
  const signatures = isTranslated ? createSignatureCollector() : undefined
  const answer = { ...origin, signatures, hooks: hooksFor(deps, origin.charge) }
  try {
    switch (begun.kind) {
      case 'abandoned':
        await endAnswer(deps, answer, 'disconnected')
        return new Response(null, { status: CLIENT_CLOSED_STATUS })
      case 'complete': {
        if (!answer.client.wantsStream) return await relayJson(deps, answer, begun, told)
        const sse = { event: undefined, data: undefined, raw: '' }
        const held = [{ sse, json: undefined, events: unfold(begun.response) }]
        return relayStream(deps, answer, { source: EMPTY_SOURCE, held, pending: undefined, isRaw: false }, told)
      }
      case 'stream':
        return relayStream(deps, answer, { ...begun, isRaw: true }, told)
    }
  } catch (error) {
    answer.ticket.ended(true)
    throw error
  }
}

/** Each field of an answer is counted once, however many of its chunks had to be put right. */
function hooksFor({ metrics }: Pick<RelayDeps, 'metrics'>, charge: OpenCharge): PassHooks {
  const seen = new Set<Repair>()
  return {
    charged: () => usageNow(charge),
    isUsageStated: () => isUsageStated(charge),
    repaired(repair) {
      if (seen.has(repair)) return
      seen.add(repair)
      metrics.repaired(charge.facts.provider, repair)
    },
  }
}
