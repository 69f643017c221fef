/** What the pieces of a stream go through, each part alone: reading, understanding, counting, passing on. */
import { ANSWERS } from '@bench/mock/answers'
import { ZERO_USAGE } from '@/chat/usage'
import type { AnswerContext, Format, PassHooks } from '@/formats/format'
import { Meter } from '@/gateway/charge/meter'
import { assert } from '@/lib/assert'
import { parseJson } from '@/lib/json'
import { SseParser } from '@/lib/streams/sse'
import type { Piece } from './measure'

/** Codecs remember their stream, so each is made for one of this length, as it is in life. */
export const PIECES_OF_A_STREAM = 100

const MAX_OUTPUT_TOKENS = 4_096
/** The HTTP chunk around a piece has a size line before it and an empty line behind it. */
const SIZE_LINE_END = '\r\n'

/** Parts of a stream in `format`, told to a client of the same format and, by `other`, of another; each run is a whole stream. */
export function streamPieces(format: Format, other: Format): Piece[] {
  const bytes = pieceOf(format)
  const [event] = new SseParser().push(bytes)
  assert(event?.data !== undefined, 'a piece is an event')
  const { data } = event
  const json = parseJson(data)
  const events = format.createStreamDecoder().push(event, json)
  const context = contextFor('svc/bench')
  return [
    wholeStream('piece: parse events', () => {
      const parser = new SseParser()
      return () => parser.push(bytes)
    }),
    wholeStream('piece: parse JSON', () => () => parseJson(data)),
    wholeStream('piece: decode', () => {
      const decoder = format.createStreamDecoder()
      return () => decoder.push(event, json)
    }),
    wholeStream('piece: count', () => {
      const meter = new Meter(MAX_OUTPUT_TOKENS)
      return () => {
        for (const item of events) meter.observe(item)
      }
    }),
    wholeStream('piece: pass through', () => {
      const passing = format.passThrough.createStream(context, PASS_HOOKS)
      return () => passing.event(data, json)
    }),
    wholeStream('piece: encode in another format', () => {
      const encoder = other.createStreamEncoder(context)
      return () => {
        for (const item of events) encoder.push(item).map((frame, index) => other.framing.format(frame, index))
      }
    }),
  ]
}

/** What an answer is told with; nobody asks what it costs. */
export function contextFor(model: string): AnswerContext {
  const flags = { wantsUsage: true, wantsReasoning: false }
  return { id: 'req_bench', model, created: 0, ...flags, estimatedInputTokens: 1 }
}

export const PASS_HOOKS: PassHooks = {
  charged: () => ZERO_USAGE,
  isUsageStated: () => true,
  repaired: () => undefined,
}

function wholeStream(name: string, open: () => () => unknown): Piece {
  return {
    name,
    run() {
      const take = open()
      for (let piece = 0; piece < PIECES_OF_A_STREAM; piece++) take()
    },
  }
}

function pieceOf({ name }: Format): Buffer {
  const { piece } = ANSWERS[name].stream
  const start = piece.indexOf(SIZE_LINE_END) + SIZE_LINE_END.length
  return piece.subarray(start, piece.length - SIZE_LINE_END.length)
}
