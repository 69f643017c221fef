import { ApiError, toApiError } from '@/dashboard/client'
import { accountPath } from '@/dashboard/shown-account'
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '@/lib/json'
import { SseParser } from '@/lib/streams/sse'

type ChatCall = {
  key: string | undefined
  body: JsonObject
}

/** Cost and usage of an answer, sent by the service after the settlement. Times are in milliseconds, measured by the service. */
export type AnswerRecord = {
  costUsd: string
  inputTokens: number
  cachedTokens: number
  outputTokens: number
  reasoningTokens: number
  firstTokenMs: number | null
  durationMs: number
}

type ChatPiece =
  | { type: 'began'; model: string; provider: string; requestId: string }
  | { type: 'text' | 'reasoning'; text: string }
  | { type: 'record'; record: AnswerRecord }

const KEY_PATH = '/v1/chat/completions'
const UNREACHABLE = 'The service could not be reached. Check your connection and try again.'

/** Yields the pieces of a chat completion. Throws an ApiError if it is refused or interrupted, and the abort error of `signal`. */
export async function* streamChat({ key, body }: ChatCall, signal: AbortSignal): AsyncGenerator<ChatPiece> {
  const response = await send(key, body, signal)
  const text = (name: string) => response.headers.get(name) ?? ''
  if (!response.ok || !response.body) throw toApiError(parseJson(await response.text()), response.status)
  yield { type: 'began', model: text('x-svc-model'), provider: text('x-svc-provider'), requestId: text('x-request-id') }
  const parser = new SseParser()
  const reader = response.body.getReader()
  for (;;) {
    const { done, value } = await read(reader, signal)
    for (const { event, data } of done ? parser.end() : parser.push(value)) {
      if (data !== undefined) yield* piecesOf(event, parseJson(data))
    }
    if (done) return
  }
}

async function send(key: string | undefined, body: JsonObject, signal: AbortSignal): Promise<Response> {
  const headers = new Headers({ 'content-type': 'application/json', 'x-svc-usage-record': 'true' })
  if (key !== undefined) headers.set('authorization', `Bearer ${key}`)
  const init = { method: 'POST', headers, signal, body: JSON.stringify({ ...body, stream: true }) } as const
  // With a pasted key, the session cookie is not sent.
  const credentials = key === undefined ? 'same-origin' : 'omit'
  return fetch(key === undefined ? accountPath('playground/chat') : KEY_PATH, { ...init, credentials }).catch(
    (error: unknown) => {
      throw signal.aborted ? error : new ApiError(UNREACHABLE, 0)
    },
  )
}

async function read(reader: ReadableStreamDefaultReader<Uint8Array>, signal: AbortSignal) {
  return reader.read().catch((error: unknown) => {
    throw signal.aborted ? error : new ApiError('The connection was lost before the answer was complete.', 0)
  })
}

function* piecesOf(event: string | undefined, json: JsonValue | undefined): Generator<ChatPiece> {
  if (!isJsonObject(json)) return
  if (json.error !== undefined) throw toApiError(json, 200)
  if (event === 'usage_record') {
    yield { type: 'record', record: readAnswerRecord(json) }
    return
  }
  const [choice] = Array.isArray(json.choices) ? json.choices : []
  const delta = isJsonObject(choice) && isJsonObject(choice.delta) ? choice.delta : {}
  const reasoning = delta.reasoning_content ?? delta.reasoning
  if (typeof reasoning === 'string' && reasoning !== '') yield { type: 'reasoning', text: reasoning }
  const written = delta.content ?? delta.refusal
  if (typeof written === 'string' && written !== '') yield { type: 'text', text: written }
}

function readAnswerRecord(json: JsonObject): AnswerRecord {
  const count = (name: string) => Number(json[name] ?? 0)
  return {
    costUsd: String(json.cost_usd ?? '0'),
    inputTokens: count('input_tokens'),
    cachedTokens: count('cached_tokens'),
    outputTokens: count('output_tokens'),
    reasoningTokens: count('reasoning_tokens'),
    firstTokenMs: typeof json.first_token_ms === 'number' ? json.first_token_ms : null,
    durationMs: count('duration_ms'),
  }
}
