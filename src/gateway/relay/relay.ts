import type { ChatEvent } from '@/chat/event'
import { wholeCharacters } from '@/chat/shorten'
import { unfold } from '@/chat/unfold'
import type { StartedAnswer } from '@/gateway/attempt/attempt'
import type { StreamItem } from '@/gateway/attempt/repeats'
import { EMPTY_SOURCE } from '@/gateway/attempt/stream-source'
import type { Soon } from '@/lib/wait/soon'
import { relayJson } from './relay-json'
import { relayStream } from './relay-stream'
import { leftAlone, type RelayedAnswer } from './relayed'

/** Relays an answer as JSON or stream, as the client requested, and settles it, even if an error occurs before a stream owns the hold. */
export function relay(started: StartedAnswer, answer: RelayedAnswer): Soon<Response> {
  if (started.kind === 'complete' && !answer.client.wantsStream) return relayJson(answer, started)
  if (started.kind === 'abandoned') {
    if (started.isUnreached) answer.charge.isUnreached = true
    return leftAlone(answer, started.hasSent ? 'disconnected' : 'unanswered')
  }
  try {
    if (started.kind === 'stream') return relayStream(answer, { ...started, isRaw: true })
    const held = piecemeal(unfold(started.response))
    return relayStream(answer, { source: EMPTY_SOURCE, held, pending: undefined, isRaw: false })
  } catch (error) {
    answer.crash()
    throw error
  }
}

/** Maximum characters of text in one event. Events are short, so that the answer can be cut close to its limit. */
const PIECE_CHARS = 256

/** Events as separate items, with texts split as in a stream. */
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
