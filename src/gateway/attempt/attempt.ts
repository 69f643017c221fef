/**
 * One attempt at one target, up to the commit point: the first moment at which something of the answer is worth showing.
 * Before it every fault is a value, and another target may be tried; after it the answer belongs to the client.
 */
import type { Model, ProviderKey } from '@/catalog/types'
import type { ChatEvent } from '@/chat/event'
import type { ChatRequest, Warning } from '@/chat/request'
import type { ChatResponse, FinishReason } from '@/chat/response'
import type { Format } from '@/formats/format'
import { LATE, startDeadline } from '@/lib/deadline'
import { isDeeperThan, isJsonObject, type JsonObject, parseJson } from '@/lib/json'
import type { PlannedTarget } from '@/routing/plan/plan'
import { callUpstream, type UpstreamAnswer } from '@/upstream/client'
import type { UpstreamFailure } from '@/upstream/failure'
import { foldStream, type ObserveEvent } from './fold-stream'
import { openStreamSource, type StreamBatch, type StreamItem, type StreamSource } from './stream-source'

export type Attempt =
  /** `raw` is what the provider sent, undefined where it streamed and the stream was folded. */
  | { kind: 'complete'; response: ChatResponse; raw: { text: string; json: JsonObject } | undefined }
  /** `held` were read while waiting for content; `pending` is a read under way, where the wait for content grew too long. */
  | { kind: 'stream'; source: StreamSource; held: StreamItem[]; pending: Promise<StreamBatch> | undefined }
  | { kind: 'failed'; failure: UpstreamFailure }
  /** The client went away while the upstream was at work. */
  | { kind: 'abandoned' }

type AttemptInput = {
  planned: PlannedTarget
  key: ProviderKey
  clientFormat: Format
  providerFormat: Format
  request: ChatRequest
  /** The caller's own body, for a provider of the caller's own format. */
  body: JsonObject
  signal: AbortSignal
  observe: ObserveEvent
  /** Told what the target's format could not say, where anything was left out. */
  onWarnings(warnings: readonly Warning[]): void
}

/** What may be held back before content, so that an error after a 200 can still fall back. */
const MAX_HELD_ITEMS = 64
const MAX_HELD_CHARS = 256 * 1024
const MAX_HELD_MS = 10_000
/** The largest complete answer. Far above any model's output, images included. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024
const MAX_JSON_DEPTH = 256

/** Calls the target once. Throws only what encoding the request throws: a GatewayError that blames the request. */
export async function attemptTarget(input: AttemptInput): Promise<Attempt> {
  const { planned, key, providerFormat, request, signal } = input
  const bodyText = JSON.stringify(encodeBody(input))
  const answer = await callUpstream({
    target: planned.target,
    key,
    format: providerFormat,
    stream: request.stream,
    bodyText,
    signal,
  })
  if (signal.aborted) {
    if (answer.kind === 'answer') answer.abort()
    return { kind: 'abandoned' }
  }
  if (answer.kind === 'failed') return answer
  const result = await readAnswer(input, answer)
  if (signal.aborted && result.kind === 'failed') return { kind: 'abandoned' }
  return result
}

async function readAnswer(input: AttemptInput, answer: UpstreamAnswer): Promise<Attempt> {
  const { clientFormat, providerFormat, request, observe } = input
  const isTranslated = clientFormat !== providerFormat
  if (!answer.isEventStream) return readComplete(answer, providerFormat, isTranslated)
  const source = openStreamSource(answer, providerFormat)
  if (request.stream) return awaitContent(source, isTranslated)
  const result = await foldStream(source, MAX_ANSWER_BYTES, observe)
  return result.kind === 'failed' ? result : completeAttempt(result.response, undefined, isTranslated)
}

function encodeBody(input: AttemptInput): JsonObject {
  const { planned, clientFormat, providerFormat, body } = input
  const request = withinModel(input.request, planned.model)
  const traits = {
    model: planned.target.model,
    maxOutputTokens: planned.model.maxOutputTokens,
    quirks: planned.target.quirks,
  }
  if (clientFormat === providerFormat) return clientFormat.passThrough.request(body, request, traits)
  const encoded = providerFormat.encodeRequest(request, traits)
  if (encoded.warnings.length > 0) input.onWarnings(encoded.warnings)
  return encoded.body
}

/** The hold covers no more output than the model can give, so no more is asked for. */
function withinModel(request: ChatRequest, model: Model): ChatRequest {
  const { maxOutputTokens } = model
  return (request.maxOutputTokens ?? 0) > maxOutputTokens ? { ...request, maxOutputTokens } : request
}

async function awaitContent(source: StreamSource, isTranslated: boolean): Promise<Attempt> {
  const held: StreamItem[] = []
  const patience = startDeadline(MAX_HELD_MS)
  try {
    for (;;) {
      const pending = source.next()
      const batch = await patience.orLate(pending)
      if (batch === LATE) return { kind: 'stream', source, held, pending }
      if (batch.kind === 'failed') return batch
      if (batch.kind === 'done') return endedWithoutContent(batch.events, held, source)
      const failure = findError(batch.items, isTranslated)
      if (failure) {
        source.abort()
        return { kind: 'failed', failure }
      }
      held.push(...batch.items)
      if (batch.items.some((item) => item.events.some(isContent)) || isTooMuchHeld(held)) {
        return { kind: 'stream', source, held, pending: undefined }
      }
    }
  } finally {
    patience.clear()
  }
}

/** An answer may be legally empty; one that stops without its terminator was cut. */
function endedWithoutContent(events: ChatEvent[], held: StreamItem[], source: StreamSource): Attempt {
  const hasEnded = [...held.flatMap((item) => item.events), ...events].some((event) => event.type === 'end')
  if (!hasEnded) return { kind: 'failed', failure: { kind: 'broken', detail: 'stream ended before any content' } }
  return { kind: 'stream', source, held, pending: Promise.resolve({ kind: 'done', events }) }
}

/** An error inside a 200, as long as nothing of the answer came before it. */
function findError(items: StreamItem[], isTranslated: boolean): UpstreamFailure | undefined {
  for (const event of items.flatMap((item) => item.events)) {
    if (isTranslated && event.type === 'finish' && event.finish.kind === 'error') return emptyFailure(event.finish)
    if (isContent(event)) return undefined
    if (event.type === 'error') return { kind: 'refused', error: event.error }
  }
  return undefined
}

/**
 * The provider says that it failed, and gives nothing else. Only its own format has a word for that: in any other the answer
 * would pass for an empty one that ended well.
 */
function emptyFailure(finish: FinishReason): UpstreamFailure {
  return { kind: 'malformed', detail: `empty answer, finished with ${finish.raw ?? finish.kind}` }
}

function isContent(event: ChatEvent): boolean {
  switch (event.type) {
    case 'text-delta':
    case 'refusal-delta':
    case 'reasoning-delta':
      return event.text !== ''
    case 'tool-call-start':
    case 'image':
    case 'finish':
      return true
    case 'reasoning-start':
      return event.redacted !== undefined
    default:
      return false
  }
}

function isTooMuchHeld(held: StreamItem[]): boolean {
  return held.length >= MAX_HELD_ITEMS || held.reduce((sum, item) => sum + item.sse.raw.length, 0) >= MAX_HELD_CHARS
}

async function readComplete(answer: UpstreamAnswer, format: Format, isTranslated: boolean): Promise<Attempt> {
  const body = await answer.readAll(MAX_ANSWER_BYTES)
  if (body.kind === 'failed') return body
  const { bytes } = body
  if (isDeeperThan(bytes, MAX_JSON_DEPTH)) return malformed('answer nested too deep')
  const text = new TextDecoder().decode(bytes)
  const json = parseJson(text)
  if (json === undefined) return malformed('answer is not JSON')
  const response = format.decodeResponse(json)
  if (!response || !isJsonObject(json)) return malformed('answer is not of the provider format')
  return completeAttempt(response, { text, json }, isTranslated)
}

function completeAttempt(
  response: ChatResponse,
  raw: { text: string; json: JsonObject } | undefined,
  isTranslated: boolean,
): Attempt {
  const [first] = response.choices
  const isEmpty = response.choices.every((choice) => choice.content.length === 0)
  if (isTranslated && isEmpty && first?.finish.kind === 'error') {
    return { kind: 'failed', failure: emptyFailure(first.finish) }
  }
  return { kind: 'complete', response, raw }
}

function malformed(detail: string): Attempt {
  return { kind: 'failed', failure: { kind: 'malformed', detail } }
}
