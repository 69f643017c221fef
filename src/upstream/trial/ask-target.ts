import type { Model, Target } from '@/catalog/types'
import { GatewayError } from '@/chat/error'
import type { ChatEvent } from '@/chat/event'
import { createFolder } from '@/chat/fold'
import type { ChatRequest } from '@/chat/request'
import type { ChatResponse } from '@/chat/response'
import type { Format } from '@/formats/format'
import { FORMATS } from '@/formats/index'
import { assert } from '@/lib/assert'
import { parseJson } from '@/lib/json'
import { SseParser } from '@/lib/streams/sse'
import type { UpstreamAnswer } from '@/upstream/answer'
import { callUpstream } from '@/upstream/client'
import { describeFailure } from '@/upstream/failure'
import type { Probe } from './probes'

/** `firstTokenMs`: from sending to the first piece of a streamed answer; undefined for a whole answer. */
type TrialAnswer = { kind: 'answered'; response: ChatResponse; firstTokenMs: number | undefined }

/** Maximum output tokens of a test: enough for a model that reasons before its answer of one word. */
const MAX_OUTPUT_TOKENS = 2_000
const MAX_ANSWER_BYTES = 1024 * 1024
const TIMEOUT_MS = 60_000
const NOBODY = 'provider-test'

const decoder = new TextDecoder()

/** Sends a small request to one target with the provider's first key: without failover or charge. `why`: for operators, without secrets. */
export async function askTarget(
  model: Model,
  target: Target,
  probe: Probe,
): Promise<TrialAnswer | { kind: 'failed'; why: string }> {
  const { provider } = target
  const format = FORMATS.get(provider.format)
  const [key] = provider.keys
  assert(format && key, 'a provider that is offered has a format and a key')
  const body = encode(model, target, format, probe)
  if (body instanceof GatewayError) return { kind: 'failed', why: body.message }
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const { stream } = probe.asks
  const startedMs = performance.now()
  const answer = await callUpstream({ target, key, format, stream, bodyText: JSON.stringify(body), signal })
  const read = answer.kind === 'failed' ? answer : await readAnswer(answer, format, startedMs)
  if (read.kind === 'answered' && stream && read.firstTokenMs === undefined) {
    return { kind: 'failed', why: 'came in one piece' }
  }
  if (read.kind === 'answered') return read
  if (signal.aborted) return { kind: 'failed', why: `no whole answer within ${TIMEOUT_MS / 1000} s` }
  return { kind: 'failed', why: read.kind === 'failed' ? describeFailure(read.failure, provider) : read.why }
}

function encode(model: Model, target: Target, format: Format, { asks }: Probe) {
  const maxOutputTokens = Math.min(MAX_OUTPUT_TOKENS, model.maxOutputTokens)
  const { quirks, provider } = target
  const request: ChatRequest = {
    model: model.id,
    system: [],
    sampling: {},
    maxOutputTokens,
    choices: 1,
    fallback: [],
    wantsUsage: true,
    extensions: {},
    ...asks,
  }
  const { passFields, betas, headers, dialect } = provider
  const traits = { model: target.model, maxOutputTokens: model.maxOutputTokens, quirks, passFields, betas }
  try {
    const { body } = format.encodeRequest(request, { ...traits, accountId: NOBODY })
    return dialect.envelope ? dialect.envelope(body, headers, target.family).body : body
  } catch (error) {
    if (error instanceof GatewayError) return error
    throw error
  }
}

async function readAnswer(answer: UpstreamAnswer, format: Format, startedMs: number) {
  if (answer.isEventStream) return readStream(answer, format, startedMs)
  const body = await answer.readAll(MAX_ANSWER_BYTES)
  if (body.kind === 'failed') return body
  const json = parseJson(decoder.decode(body.bytes))
  const response = json === undefined ? undefined : format.decodeResponse(json)
  if (!response) return { kind: 'wrong' as const, why: `is no answer of ${format.name}` }
  return { kind: 'answered' as const, response, firstTokenMs: undefined }
}

async function readStream(answer: UpstreamAnswer, format: Format, startedMs: number) {
  const parser = new SseParser(MAX_ANSWER_BYTES)
  const stream = format.createStreamDecoder()
  const folder = createFolder()
  let firstTokenMs: number | undefined
  let hasEnded = false
  let why: string | undefined

  function take(events: readonly ChatEvent[]): void {
    for (const event of events) {
      folder.push(event)
      if (event.type.endsWith('-delta')) firstTokenMs ??= performance.now() - startedMs
      hasEnded ||= event.type === 'end'
      if (event.type === 'error') why ??= `in the stream: ${event.error.status} ${event.error.kind}`
    }
  }

  for (;;) {
    const chunk = await answer.read()
    if (chunk.kind === 'failed') return chunk
    const events = chunk.kind === 'bytes' ? parser.push(chunk.bytes) : parser.end()
    for (const event of events) take(stream.push(event, event.data === undefined ? undefined : parseJson(event.data)))
    if (chunk.kind === 'done') break
  }
  take(stream.end())
  if (why === undefined && !hasEnded) why = 'the stream ended without its terminator'
  if (why !== undefined) return { kind: 'wrong' as const, why }
  return { kind: 'answered' as const, response: folder.response(), firstTokenMs }
}
