/** A provider's answer in each format, piece by piece, so that a test can stop anywhere; and how each format's clients ask. */
import type { FormatName } from '@/chat/format-name'

export type Told = { input: number; output: number; reasoning?: number; total?: number }

/** The wire text of a stream: its texts one event each, then what says why it stopped, the usage (`''` where the stop says it too), and the end. */
type Pieces = { texts: string[]; stop: string; usage: string; end: string }

/** An answer of `texts` in the words of `format`. */
export function piecesOf(format: FormatName, texts: readonly string[], told: Told): Pieces {
  switch (format) {
    case 'chat-completions':
      return {
        texts: texts.map((content, index) => chunk({ ...(index === 0 && { role: 'assistant' }), content })),
        stop: chunk({}, 'stop'),
        usage: event({ ...CHUNK, choices: [], usage: chatUsage(told) }),
        end: 'data: [DONE]\n\n',
      }
    case 'messages':
      return {
        texts: texts.map((text, index) => {
          const delta = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }
          return (index === 0 ? messageStart(told) : '') + named(delta)
        }),
        stop:
          named({ type: 'content_block_stop', index: 0 }) +
          named({
            type: 'message_delta',
            delta: { stop_reason: 'end_turn', stop_sequence: null },
            usage: { output_tokens: told.output },
          }),
        usage: '',
        end: named({ type: 'message_stop' }),
      }
    case 'generate-content':
      return {
        texts: texts.map((text) => event(candidate(text))),
        stop: event({ ...candidate('', 'STOP'), usageMetadata: contentUsage(told) }),
        usage: '',
        end: '',
      }
    case 'responses': {
      const response = { ...RESPONSE, status: 'in_progress', output: [] }
      const begin = named({ type: 'response.created', response }) + named({ type: 'response.in_progress', response })
      const item = { ...messageItem(''), status: 'in_progress', content: [] }
      const added = named({ type: 'response.output_item.added', output_index: 0, item })
      const part = named({ type: 'response.content_part.added', ...AT, part: textPart('') })
      const whole = messageItem(texts.join(''))
      const delta = (text: string) => named({ type: 'response.output_text.delta', ...AT, delta: text, logprobs: [] })
      return {
        texts: texts.map((text, index) => (index === 0 ? begin + added + part : '') + delta(text)),
        stop:
          named({ type: 'response.output_text.done', ...AT, text: texts.join(''), logprobs: [] }) +
          named({ type: 'response.content_part.done', ...AT, part: textPart(texts.join('')) }) +
          named({ type: 'response.output_item.done', output_index: 0, item: whole }),
        usage: '',
        end: named({ type: 'response.completed', response: wholeOf(format, texts.join(''), told) }),
      }
    }
  }
}

/** The same answer in one piece. */
export function wholeOf(format: FormatName, text: string, told: Told): Record<string, unknown> {
  switch (format) {
    case 'chat-completions':
      return {
        ...{ id: 'c', object: 'chat.completion', created: 1, model: 'x', usage: chatUsage(told) },
        choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
      }
    case 'messages':
      return {
        ...{ ...MESSAGE, content: [{ type: 'text', text }], stop_reason: 'end_turn', stop_sequence: null },
        usage: { input_tokens: told.input, output_tokens: told.output },
      }
    case 'generate-content':
      return { ...candidate(text, 'STOP'), usageMetadata: contentUsage(told) }
    case 'responses':
      return { ...RESPONSE, output: [messageItem(text)], usage: responseUsage(told) }
  }
}

/** Path and body of a question in `format`. */
export function questionIn(
  format: FormatName,
  model: string,
  { stream, limit }: { stream: boolean; limit: number },
): { path: string; body: Record<string, unknown> } {
  const messages = [{ role: 'user', content: 'Hi' }]
  switch (format) {
    case 'chat-completions':
      return { path: '/v1/chat/completions', body: { model, messages, stream, max_tokens: limit } }
    case 'messages':
      return { path: '/v1/messages', body: { model, messages, stream, max_tokens: limit } }
    case 'responses':
      return { path: '/v1/responses', body: { model, input: messages, stream, max_output_tokens: limit } }
    case 'generate-content': {
      const verb = stream ? 'streamGenerateContent?alt=sse' : 'generateContent'
      const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]
      return {
        path: `/v1beta/models/${encodeURIComponent(model)}:${verb}`,
        body: { contents, generationConfig: { maxOutputTokens: limit } },
      }
    }
  }
}

/** The text that a client has been told, and why it ended, as the wire of `format` says both. */
export function readTold(format: FormatName, wire: string): { text: string; finish: string | undefined } {
  const events = wire
    .split('\n')
    .flatMap((line) =>
      line.startsWith('data: {') ? [JSON.parse(line.slice(6))] : line.startsWith('{') ? [JSON.parse(line)] : [],
    )
  let text = ''
  let finish: string | undefined
  for (const body of events) {
    if (format === 'chat-completions') {
      const choice = body.choices[0]
      text += choice?.delta?.content ?? choice?.message?.content ?? ''
      finish = choice?.finish_reason ?? finish
    } else if (format === 'messages') {
      text += body.delta?.text ?? body.content?.map((block: { text: string }) => block.text).join('') ?? ''
      finish = body.delta?.stop_reason ?? body.stop_reason ?? finish
    } else if (format === 'responses') {
      const whole = body.object === 'response' ? body : body.response
      if (body.type === 'response.output_text.delta') text += body.delta
      if (body.object === 'response') text += body.output[0]?.content[0]?.text ?? ''
      const reason = whole?.incomplete_details?.reason ?? whole?.status
      finish = reason === undefined || reason === 'in_progress' ? finish : reason
    } else {
      const [first] = body.candidates ?? []
      text += first?.content?.parts?.map((part: { text: string }) => part.text).join('') ?? ''
      finish = first?.finishReason ?? finish
    }
  }
  return { text, finish }
}

const CHUNK = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'x' }
const MESSAGE = { id: 'm', type: 'message', role: 'assistant', model: 'x' }

const RESPONSE = {
  ...{ id: 'resp_1', object: 'response', created_at: 1_760_000_000, model: 'x', status: 'completed' },
  ...{ error: null, incomplete_details: null },
}
const AT = { item_id: 'msg_1', output_index: 0, content_index: 0 }
const textPart = (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] })
const messageItem = (text: string) => {
  return { id: 'msg_1', type: 'message', status: 'completed', role: 'assistant', content: [textPart(text)] }
}

const event = (body: unknown) => `data: ${JSON.stringify(body)}\n\n`
const named = (body: { type: string; [field: string]: unknown }) => `event: ${body.type}\n${event(body)}`
const chunk = (delta: Record<string, unknown>, finish_reason: string | null = null) =>
  event({ ...CHUNK, choices: [{ index: 0, delta, finish_reason }] })

function messageStart({ input }: Told): string {
  const message = { ...MESSAGE, content: [], usage: { input_tokens: input, output_tokens: 1 } }
  const block = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }
  return named({ type: 'message_start', message }) + named(block)
}

function candidate(text: string, finishReason?: string) {
  return {
    candidates: [{ content: { role: 'model', parts: [{ text }] }, index: 0, ...(finishReason && { finishReason }) }],
  }
}

function chatUsage({ input, output, reasoning = 0, total = input + output }: Told) {
  return {
    ...{ prompt_tokens: input, completion_tokens: output, total_tokens: total },
    ...(reasoning > 0 && { completion_tokens_details: { reasoning_tokens: reasoning } }),
  }
}

function contentUsage({ input, output, reasoning = 0, total = input + output }: Told) {
  return {
    ...{ promptTokenCount: input, candidatesTokenCount: output - reasoning, totalTokenCount: total },
    ...(reasoning > 0 && { thoughtsTokenCount: reasoning }),
  }
}

function responseUsage({ input, output, reasoning = 0, total = input + output }: Told) {
  return {
    ...{ input_tokens: input, input_tokens_details: { cached_tokens: 0 } },
    ...{ output_tokens: output, output_tokens_details: { reasoning_tokens: reasoning }, total_tokens: total },
  }
}
