/** Shows an answer in the shape the client asked for, whichever shape the provider chose, and sees that it is settled. */
import { unfold } from '@/chat/unfold'
import type { Begun } from '@/gateway/attempt/attempt'
import { EMPTY_SOURCE } from '@/gateway/attempt/stream-source'
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
  origin: Omit<RelayedAnswer, 'signatures'>,
  told: HeaderFacts,
): Promise<Response> {
  const isTranslated = origin.providerFormat !== origin.client.format
  const answer = { ...origin, signatures: isTranslated ? createSignatureCollector() : undefined }
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
