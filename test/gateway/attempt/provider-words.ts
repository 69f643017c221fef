/** What a provider of each format says in a stream, in pieces, so that a fault can strike between any two of them. */
import type { FormatName } from '@test/gateway/scripted-models'
import { chatChunk, liveStream } from '@test/support/upstream'

type Words = {
  /** Begins an answer and does not mention it. */
  role: unknown[]
  text: unknown[]
  /** The terminator, without a finish before it; that of generate-content and responses is the finish. */
  end: unknown[]
  /** An error in place of an event, or of a whole answer. */
  error: unknown
  /** Likewise; the prompt is too long for the model. */
  tooLong: unknown
  /** What no stream that broke may hold: its end. */
  ending: string
}

const TOO_LONG = 'The prompt is longer than the maximum context length of 10 tokens'

const MESSAGE = {
  ...{
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'x',
    content: [],
    stop_reason: null,
    stop_sequence: null,
  },
  usage: { input_tokens: 10, output_tokens: 1 },
}

const RESPONSE = { id: 'resp_1', object: 'response', created_at: 1, status: 'in_progress', model: 'x', output: [] }
const ITEM = { id: 'msg_1', type: 'message', status: 'in_progress', role: 'assistant', content: [] }
const AT = { item_id: 'msg_1', output_index: 0, content_index: 0 }

export const WORDS: Readonly<Record<FormatName, Words>> = {
  'chat-completions': {
    role: [chatChunk({ role: 'assistant', content: '' })],
    text: [chatChunk({ content: 'Half an ' })],
    end: ['[DONE]'],
    error: { error: { message: 'overloaded', type: 'server_error', code: 503 } },
    tooLong: { error: { message: TOO_LONG, type: 'invalid_request_error' } },
    ending: '[DONE]',
  },
  messages: {
    role: [
      { type: 'message_start', message: MESSAGE },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ],
    text: [{ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Half an ' } }],
    end: [{ type: 'message_stop' }],
    error: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
    tooLong: { type: 'error', error: { type: 'invalid_request_error', message: TOO_LONG } },
    ending: 'message_stop',
  },
  'generate-content': {
    role: [{ candidates: [{ content: { role: 'model', parts: [] }, index: 0 }] }],
    text: [{ candidates: [{ content: { role: 'model', parts: [{ text: 'Half an ' }] }, index: 0 }] }],
    end: [],
    error: { error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } },
    tooLong: { error: { code: 400, message: TOO_LONG, status: 'INVALID_ARGUMENT' } },
    ending: 'finishReason',
  },
  responses: {
    role: [
      { type: 'response.created', response: RESPONSE },
      { type: 'response.output_item.added', output_index: 0, item: ITEM },
      { type: 'response.content_part.added', ...AT, part: { type: 'output_text', text: '', annotations: [] } },
    ],
    text: [{ type: 'response.output_text.delta', ...AT, delta: 'Half an ' }],
    end: [],
    error: { type: 'error', code: 'server_is_overloaded', message: 'Overloaded', param: null },
    tooLong: {
      type: 'error',
      error: { type: 'invalid_request_error', code: 'context_length_exceeded', message: TOO_LONG },
    },
    ending: 'response.completed',
  },
}

/** Events as they are sent; those that have a type are named by it. */
export function eventText(events: readonly unknown[]): string {
  return events.map((event) => `${nameLine(event)}data: ${dataOf(event)}\n\n`).join('')
}

/** A stream that says these events and then no more; its end is the test's. */
export function streamOf(...events: readonly unknown[]): ReturnType<typeof liveStream> {
  const live = liveStream()
  if (events.length > 0) live.write(eventText(events))
  return live
}

function dataOf(event: unknown): string {
  return typeof event === 'string' ? event : JSON.stringify(event)
}

function nameLine(event: unknown): string {
  const type = typeof event === 'object' && event !== null && 'type' in event ? event.type : undefined
  return type === undefined ? '' : `event: ${type}\n`
}
