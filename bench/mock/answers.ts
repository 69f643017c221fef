/** What the mock upstream says in each format, prepared as bytes: an answer of JSON, and the parts of a stream. */
import type { WireFormat } from '@bench/load/job'
import { STAMP_PLACE } from '@bench/load/stamps'

/** Bytes of a stream, each framed as a chunk of HTTP. `piece` holds the place of a stamp at `stampAt`. */
export type StreamParts = { opening: Buffer; piece: Buffer; stampAt: number; closing: Buffer }

type Answers = { json: Buffer; stream: StreamParts }

const SENTENCE = 'Certainly. The answer is forty-two, as it has been for quite a while.'
const USAGE = { input: 24, output: 16 }
const CREATED = 1_760_000_000

/** All answers by format. */
export const ANSWERS: Readonly<Record<WireFormat, Answers>> = {
  'chat-completions': { json: jsonAnswer(chatCompletion()), stream: chatCompletionStream() },
  messages: { json: jsonAnswer(message()), stream: messageStream() },
  'generate-content': { json: jsonAnswer(candidate(SENTENCE, 'STOP')), stream: candidateStream() },
  responses: { json: jsonAnswer(response('completed', [spoken(SENTENCE)])), stream: responseStream() },
}

function jsonAnswer(body: Record<string, unknown>): Buffer {
  const text = JSON.stringify(body)
  const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n`
  return Buffer.from(head + text)
}

function chatCompletion(): Record<string, unknown> {
  const message = { role: 'assistant', content: SENTENCE }
  return {
    ...{ id: 'chatcmpl-bench', object: 'chat.completion', created: CREATED, model: 'json' },
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage: { prompt_tokens: USAGE.input, completion_tokens: USAGE.output, total_tokens: USAGE.input + USAGE.output },
  }
}

function chatCompletionStream(): StreamParts {
  const chunk = (choices: unknown[], more = {}) =>
    event({
      id: 'chatcmpl-bench',
      object: 'chat.completion.chunk',
      created: CREATED,
      model: 'stream',
      choices,
      ...more,
    })
  const delta = (content: Record<string, unknown>, finish: string | null = null) =>
    chunk([{ index: 0, delta: content, finish_reason: finish }])
  const usage = {
    prompt_tokens: USAGE.input,
    completion_tokens: USAGE.output,
    total_tokens: USAGE.input + USAGE.output,
  }
  return parts(
    delta({ role: 'assistant', content: '' }),
    delta({ content: `${STAMP_PLACE} ` }),
    `${delta({}, 'stop')}${chunk([], { usage })}data: [DONE]\n\n`,
  )
}

function message(): Record<string, unknown> {
  return {
    ...{ id: 'msg_bench', type: 'message', role: 'assistant', model: 'json', stop_sequence: null },
    ...{ content: [{ type: 'text', text: SENTENCE }], stop_reason: 'end_turn' },
    usage: { input_tokens: USAGE.input, output_tokens: USAGE.output },
  }
}

function messageStream(): StreamParts {
  const named = (type: string, more: Record<string, unknown>) => `event: ${type}\n${event({ type, ...more })}`
  const begun = { ...message(), content: [], stop_reason: null, usage: { input_tokens: USAGE.input, output_tokens: 1 } }
  const block = { type: 'text', text: '' }
  return parts(
    named('message_start', { message: begun }) + named('content_block_start', { index: 0, content_block: block }),
    named('content_block_delta', { index: 0, delta: { type: 'text_delta', text: `${STAMP_PLACE} ` } }),
    named('content_block_stop', { index: 0 }) +
      named('message_delta', {
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { output_tokens: USAGE.output },
      }) +
      named('message_stop', {}),
  )
}

function candidate(text: string, finishReason: string | undefined): Record<string, unknown> {
  return {
    candidates: [{ content: { parts: [{ text }], role: 'model' }, index: 0, ...(finishReason && { finishReason }) }],
    usageMetadata: {
      promptTokenCount: USAGE.input,
      candidatesTokenCount: USAGE.output,
      totalTokenCount: USAGE.input + USAGE.output,
    },
    ...{ modelVersion: 'bench', responseId: 'bench' },
  }
}

function candidateStream(): StreamParts {
  const piece = `data: ${JSON.stringify(candidate(`${STAMP_PLACE} `, undefined))}\r\n\r\n`
  return parts('', piece, `data: ${JSON.stringify(candidate('', 'STOP'))}\r\n\r\n`)
}

function response(status: string, output: unknown[]): Record<string, unknown> {
  const details = { input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 } }
  const counts = { input_tokens: USAGE.input, output_tokens: USAGE.output, total_tokens: USAGE.input + USAGE.output }
  return {
    ...{ id: 'resp_bench', object: 'response', created_at: CREATED, model: 'bench', status, output },
    ...{ error: null, incomplete_details: null, usage: status === 'completed' ? { ...counts, ...details } : null },
  }
}

function spoken(text: string): Record<string, unknown> {
  const content = text === '' ? [] : [{ type: 'output_text', text, annotations: [], logprobs: [] }]
  return {
    id: 'msg_bench',
    type: 'message',
    role: 'assistant',
    status: text === '' ? 'in_progress' : 'completed',
    content,
  }
}

function responseStream(): StreamParts {
  let number = 0
  const named = (type: string, more: Record<string, unknown>) =>
    `event: response.${type}\n${event({ type: `response.${type}`, sequence_number: number++, ...more })}`
  const at = { item_id: 'msg_bench', output_index: 0, content_index: 0 }
  const begun = { response: response('in_progress', []) }
  const part = { type: 'output_text', text: '', annotations: [], logprobs: [] }
  return parts(
    named('created', begun) +
      named('in_progress', begun) +
      named('output_item.added', { output_index: 0, item: spoken('') }) +
      named('content_part.added', { ...at, part }),
    // Its number is the same in every piece, which no client minds.
    named('output_text.delta', { ...at, delta: `${STAMP_PLACE} `, logprobs: [] }),
    named('output_item.done', { output_index: 0, item: spoken(SENTENCE) }) +
      named('completed', { response: response('completed', [spoken(SENTENCE)]) }),
  )
}

function event(data: unknown): string {
  return `data: ${JSON.stringify(data)}\n\n`
}

function parts(opening: string, piece: string, closing: string): StreamParts {
  const head =
    'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n'
  const framed = chunkOf(piece)
  return {
    opening: Buffer.concat([Buffer.from(head), ...(opening === '' ? [] : [chunkOf(opening)])]),
    piece: framed,
    stampAt: framed.indexOf(STAMP_PLACE),
    closing: Buffer.concat([chunkOf(closing), Buffer.from('0\r\n\r\n')]),
  }
}

/** Text as one chunk of a body. */
export function chunkOf(text: string): Buffer {
  return Buffer.from(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`)
}
