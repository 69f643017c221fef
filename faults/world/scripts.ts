/** What the scripted provider answers: whole answers in the chat-completions format, word by word, and pieces to break them with. */
import { withDeadline } from '@/lib/deadline'
import type { Answer } from './answer'
import type { Exchange, Script } from './exchange'

/** What every request is billed for its prompt: less than any count of ours, as the provider's own count would be. */
export const BILLED_INPUT_TOKENS = 10
export const EVENT_STREAM = { 'content-type': 'text/event-stream' }
const JSON_HEADERS = { 'content-type': 'application/json' }

/** How long an answer is and how fast it comes; read from the prompt, where the client has put it. */
type Pace = { words: number; pauseMs: number }

/** Answers as asked: a stream or a whole answer, with usage. */
export const defaultScript: Script = async (exchange) => {
  const pace = paceOf(exchange)
  if (exchange.call.body.stream === true) await answerStream(exchange, pace)
  else await answerWhole(exchange, pace)
}

/** The prompt's own wish. */
function paceOf({ call }: Exchange): Pace {
  const match = /words=(\d+) pause=(\d+)/.exec(JSON.stringify(call.body.messages ?? ''))
  return { words: Number(match?.[1] ?? 5), pauseMs: Number(match?.[2] ?? 0) }
}

/** A complete stream, each word billed as it is written. Stops where the gateway goes away. */
async function answerStream(exchange: Exchange, pace: Pace): Promise<void> {
  const { answer } = exchange
  answer.head(200, EVENT_STREAM)
  if (!(await writeWords(exchange, pace))) return
  await finishStream(answer, pace.words)
}

/** Bills the prompt, writes the first words of an answer, and says whether the gateway stayed. */
export async function writeWords(exchange: Exchange, { words, pauseMs }: Pace): Promise<boolean> {
  const { call, answer, bill } = exchange
  bill('input', BILLED_INPUT_TOKENS)
  await answer.write(chunkEvent({ role: 'assistant', content: '' }))
  for (let index = 0; index < words; index++) {
    if (pauseMs > 0) await withDeadline(answer.gone, pauseMs, () => undefined)
    if (answer.isGone()) return false
    bill('output', 1)
    await answer.write(chunkEvent({ content: wordOf(call.marker, index) }))
  }
  return true
}

/** The end of a good stream: reason, usage, terminator, end of body. */
async function finishStream(answer: Answer, words: number): Promise<void> {
  await answer.write(chunkEvent({}, 'stop'))
  await answer.write(usageEvent(words))
  await answer.write('data: [DONE]\n\n')
  answer.end()
}

/** A whole answer after the time its words take. A provider that is told to stop bills what it had done by then. */
async function answerWhole(exchange: Exchange, { words, pauseMs }: Pace): Promise<void> {
  const { call, answer, bill } = exchange
  bill('input', BILLED_INPUT_TOKENS)
  await withDeadline(answer.gone, words * pauseMs, () => undefined)
  if (answer.isGone()) return
  bill('output', words)
  const text = Array.from({ length: words }, (_, index) => wordOf(call.marker, index)).join('')
  await answerJson(answer, 200, completion(text, usageOf(words)))
}

/** Any JSON with any status. */
export async function answerJson(
  answer: Answer,
  status: number,
  json: unknown,
  headers: Record<string, string> = {},
): Promise<void> {
  const bytes = Buffer.from(JSON.stringify(json))
  answer.head(status, { ...JSON_HEADERS, ...headers }, { kind: 'length', bytes: bytes.length })
  await answer.write(bytes)
  answer.end()
}

/** Every word names its request and its place, so that a lost, doubled or foreign one is seen. Longer than one token. */
export function wordOf(marker: string, index: number): string {
  return `${marker}.${index} `
}

/** One event of a stream. */
export function chunkEvent(delta: Record<string, unknown>, finishReason: string | null = null): string {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: finishReason }]
  return dataEvent({ ...ENVELOPE, object: 'chat.completion.chunk', choices, usage: null })
}

/** The usage event that follows the finish. */
export function usageEvent(words: number, usage: unknown = usageOf(words)): string {
  return dataEvent({ ...ENVELOPE, object: 'chat.completion.chunk', choices: [], usage })
}

/** Wraps JSON as one event. */
export function dataEvent(json: unknown): string {
  return `data: ${JSON.stringify(json)}\n\n`
}

/** A whole answer. */
export function completion(content: string, usage: unknown): Record<string, unknown> {
  const message = { role: 'assistant', content, refusal: null }
  const choices = [{ index: 0, message, logprobs: null, finish_reason: 'stop' }]
  return { ...ENVELOPE, object: 'chat.completion', choices, usage }
}

/** The usage the provider bills. */
export function usageOf(words: number): Record<string, number> {
  const total = BILLED_INPUT_TOKENS + words
  return { prompt_tokens: BILLED_INPUT_TOKENS, completion_tokens: words, total_tokens: total }
}

const ENVELOPE = { id: 'chatcmpl-scripted', created: 1_760_000_000, model: 'scripted' }
