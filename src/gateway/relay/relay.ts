/** Shows an answer in the shape the client asked for, whichever shape the provider chose, and sees that it is settled. */
import type { ChatEvent } from '@/chat/event'
import { wholeCharacters } from '@/chat/shorten'
import { unfold } from '@/chat/unfold'
import type { PassHooks } from '@/formats/format'
import type { Repair } from '@/formats/repairs'
import type { StartedAnswer } from '@/gateway/attempt/attempt'
import type { StreamItem } from '@/gateway/attempt/repeats'
import { EMPTY_SOURCE } from '@/gateway/attempt/stream-source'
import { isUsageStated, type OpenCharge, usageNow } from '@/gateway/charge/open-charge'
import { createSignatureCollector } from '@/gateway/signatures/signature-collector'
import { CLIENT_CLOSED_STATUS } from '@/ledger/usage-record'
import type { HeaderFacts } from './headers'
import { relayJson } from './relay-json'
import { type RelayDeps, relayStream } from './relay-stream'
import { endAnswer, type RelayedAnswer } from './relayed'

/** Relays what has begun. Whatever goes wrong before a stream owns the answer ends its attempt as well. */
export async function relay(
  deps: RelayDeps,
  started: StartedAnswer,
  origin: Omit<RelayedAnswer, 'signatures' | 'hooks'>,
  facts: HeaderFacts,
): Promise<Response> {
  const isTranslated = origin.providerFormat !== origin.client.format
  const signatures = isTranslated && !origin.client.isPrivate ? createSignatureCollector() : undefined
  const answer = { ...origin, signatures, hooks: hooksFor(deps, origin.charge) }
  try {
    switch (started.kind) {
      case 'abandoned':
        if (started.isUnreached) answer.charge.isUnreached = true
        await endAnswer(deps, answer, started.hasSent ? 'disconnected' : 'unanswered')
        return new Response(null, { status: CLIENT_CLOSED_STATUS })
      case 'complete': {
        if (!answer.client.wantsStream) return await relayJson(deps, answer, started, facts)
        const held = piecemeal(unfold(started.response))
        return relayStream(deps, answer, { source: EMPTY_SOURCE, held, pending: undefined, isRaw: false }, facts)
      }
      case 'stream':
        return relayStream(deps, answer, { ...started, isRaw: true }, facts)
    }
  } catch (error) {
    answer.permit.ended(true)
    deps.tracing?.failed(origin.client.requestId, origin.permit.number, undefined)
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

/** The text that one event brings at most: what is beyond the answer's limit is told apart from what is within. */
const PIECE_CHARS = 256

/** Events as if they had come one after another, in pieces as of a stream. */
function piecemeal(events: readonly ChatEvent[]): StreamItem[] {
  const sse = { event: undefined, data: undefined, raw: '' }
  return events.flatMap((event) => inPieces(event).map((piece) => ({ sse, json: undefined, events: [piece] })))
}

function inPieces(event: ChatEvent): ChatEvent[] {
  if (!('text' in event) || event.text.length <= PIECE_CHARS) return [event]
  const pieces: ChatEvent[] = []
  for (let start = 0, end = 0; start < event.text.length; start = end) {
    end = wholeCharacters(event.text, start + PIECE_CHARS)
    pieces.push({ ...event, text: event.text.slice(start, end) })
  }
  return pieces
}
