/** Shows an answer in the shape the client asked for, whichever shape the provider chose, and sees that it is settled. */
import type { ChatEvent } from '@/chat/event'
import { wholeCharacters } from '@/chat/shorten'
import { unfold } from '@/chat/unfold'
import type { StartedAnswer } from '@/gateway/attempt/attempt'
import type { StreamItem } from '@/gateway/attempt/repeats'
import { EMPTY_SOURCE } from '@/gateway/attempt/stream-source'
import { CLIENT_CLOSED_STATUS } from '@/ledger/usage-record'
import { relayJson } from './relay-json'
import { type RelayDeps, relayStream } from './relay-stream'
import { endAnswer, type RelayedAnswer } from './relayed'

/** Relays what has begun. Whatever goes wrong before a stream owns the answer ends its attempt as well. */
export async function relay(deps: RelayDeps, started: StartedAnswer, answer: RelayedAnswer): Promise<Response> {
  try {
    switch (started.kind) {
      case 'abandoned':
        if (started.isUnreached) answer.charge.isUnreached = true
        await endAnswer(deps, answer, started.hasSent ? 'disconnected' : 'unanswered')
        return new Response(null, { status: CLIENT_CLOSED_STATUS })
      case 'complete': {
        if (!answer.client.wantsStream) return await relayJson(deps, answer, started)
        const held = piecemeal(unfold(started.response))
        return relayStream(deps, answer, { source: EMPTY_SOURCE, held, pending: undefined, isRaw: false })
      }
      case 'stream':
        return relayStream(deps, answer, { ...started, isRaw: true })
    }
  } catch (error) {
    answer.permit.ended(true)
    answer.listener?.failed(undefined)
    throw error
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
