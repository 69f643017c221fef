/** What a scripted provider says in words of the test's own, in the shape of its format. */
import { chatChunk, chatCompletion, chatStream, eventStream, usageChunk } from '@test/support/upstream'
import type { FormatName } from '@/chat/format-name'

/** A whole answer that says `text`: a stream tells it word by word. */
export function speak(format: FormatName, isStream: boolean, text: string): Response {
  const words = text.match(/\S+\s*/g) ?? []
  switch (format) {
    case 'chat-completions':
      return isStream ? eventStream(...chatStream(words)) : Response.json(chatCompletion(text))
    case 'messages':
      return isStream
        ? namedEvents(messageEvents(textBlock(''), words.map(textDelta)))
        : Response.json({ ...MESSAGE, content: [textBlock(text)] })
    case 'generate-content':
      return isStream
        ? eventStream(...words.map((text) => candidate({ text })), candidate({ text: '' }, 'STOP'))
        : Response.json(candidate({ text }, 'STOP'))
    case 'responses': {
      const pieces = words.map((word) => ({ type: 'response.output_text.delta', content_index: 0, delta: word }))
      return isStream
        ? namedEvents(responseEvents(messageItem(text), pieces))
        : Response.json(response(messageItem(text)))
    }
  }
}

/** A call of a tool, with its arguments in these pieces where the format tells them so. */
type Call = { isStream: boolean; name: string; pieces: readonly string[] }

/** An answer that is one call. */
export function speakCall(format: FormatName, call: Call): Response {
  const { isStream, name, pieces } = call
  const text = pieces.join('')
  switch (format) {
    case 'chat-completions':
      return isStream ? chatCallStream(call) : Response.json(chatCall(name, text))
    case 'messages': {
      const block = { type: 'tool_use', id: 'toolu_1', name }
      const deltas = pieces.map((piece) => ({ type: 'input_json_delta', partial_json: piece }))
      if (isStream) return namedEvents(messageEvents({ ...block, input: {} }, deltas, 'tool_use'))
      return Response.json({ ...MESSAGE, content: [{ ...block, input: JSON.parse(text) }], stop_reason: 'tool_use' })
    }
    case 'generate-content': {
      const whole = candidate({ functionCall: { name, args: JSON.parse(text) } }, 'STOP')
      return isStream ? eventStream(whole) : Response.json(whole)
    }
    case 'responses': {
      const item = { id: 'fc_1', type: 'function_call', status: 'completed', call_id: 'call_1', name, arguments: text }
      const deltas = pieces.map((delta) => ({ type: 'response.function_call_arguments.delta', delta }))
      return isStream ? namedEvents(responseEvents(item, deltas)) : Response.json(response(item))
    }
  }
}

function chatCallStream({ name, pieces }: Call): Response {
  const begin = { index: 0, id: 'call_1', type: 'function', function: { name, arguments: '' } }
  const deltas = [begin, ...pieces.map((piece) => ({ index: 0, function: { arguments: piece } }))]
  const chunks = deltas.map((call) => chatChunk({ tool_calls: [call] }))
  return eventStream(...chunks, chatChunk({}, 'tool_calls'), usageChunk(), '[DONE]')
}

function chatCall(name: string, text: string) {
  const whole = chatCompletion('')
  const call = { id: 'call_1', type: 'function', function: { name, arguments: text } }
  const message = { role: 'assistant', content: null, refusal: null, tool_calls: [call] }
  return { ...whole, choices: [{ index: 0, message, logprobs: null, finish_reason: 'tool_calls' }] }
}

const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'upstream-model',
  content: [],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 10, output_tokens: 5 },
}

function textBlock(text: string) {
  return { type: 'text', text }
}

function textDelta(text: string) {
  return { type: 'text_delta', text }
}

function messageEvents(block: object, deltas: readonly object[], reason = 'end_turn') {
  return [
    { type: 'message_start', message: { ...MESSAGE, stop_reason: null } },
    { type: 'content_block_start', index: 0, content_block: block },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index: 0, delta })),
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: 5 } },
    { type: 'message_stop' },
  ]
}

function messageItem(text: string) {
  const content = [{ type: 'output_text', text, annotations: [], logprobs: [] }]
  return { id: 'msg_1', type: 'message', status: 'completed', role: 'assistant', content }
}

type ResponseItem = { id: string; type: string; content?: readonly object[] }

function response(item?: ResponseItem) {
  return {
    id: 'resp_1',
    object: 'response',
    created_at: 1_760_000_000,
    status: item ? 'completed' : 'in_progress',
    error: null,
    incomplete_details: null,
    model: 'upstream-model',
    output: item ? [item] : [],
    usage: item ? { input_tokens: 10, output_tokens: 5, total_tokens: 15 } : null,
  }
}

/** One item in these pieces; providers were seen to leave out most of what else the format has. */
function responseEvents(item: ResponseItem, deltas: readonly { type: string }[]) {
  const [part] = item.content ?? []
  const at = { item_id: item.id, output_index: 0 }
  const begun = { ...item, status: 'in_progress', ...(part ? { content: [] } : { arguments: '' }) }
  const events = [
    { type: 'response.created', response: response() },
    { type: 'response.output_item.added', output_index: 0, item: begun },
    ...(part ? [{ type: 'response.content_part.added', ...at, content_index: 0, part: { ...part, text: '' } }] : []),
    ...deltas.map((delta) => ({ ...at, ...delta })),
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: response(item) },
  ]
  return events.map((event, sequence_number) => ({ ...event, sequence_number }))
}

function namedEvents(events: readonly { type: string }[]): Response {
  const text = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
  return new Response(text, { headers: { 'content-type': 'text/event-stream' } })
}

function candidate(part: object, finishReason?: string) {
  return {
    candidates: [{ content: { role: 'model', parts: [part] }, index: 0, ...(finishReason && { finishReason }) }],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
  }
}
