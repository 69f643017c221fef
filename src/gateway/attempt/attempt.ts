/** One attempt at one target, up to the commit point. Until then, faults are returned, not thrown: another target can follow. */
import { toolAllowance, untakenTools } from '@/catalog/tool-allowance'
import type { Model, Target } from '@/catalog/types'
import { GatewayError } from '@/chat/error'
import type { ChatRequest, Warning } from '@/chat/request'
import { extraTier } from '@/chat/service-tier'
import { showFields } from '@/formats/body-fields'
import { lostFields, respelled } from '@/formats/field-fates'
import type { Format, TargetTraits } from '@/formats/format'
import { betasRefused, leftOutOfOwn, protocolHeaders, untoldElsewhere } from '@/formats/protocol'
import { fitToolNames, withCallerNames } from '@/formats/tool-names'
import { type ArrivedRequest, askedOf } from '@/gateway/hold/request-facts'
import type { JsonObject } from '@/lib/json'
import { copyJson } from '@/lib/json-splice'
import type { Logger } from '@/lib/logger'
import { turnFor } from '@/lib/wait/own-turn'
import type { Permit } from '@/routing/failover/permit'
import type { UpstreamAnswer, UpstreamBody } from '@/upstream/answer'
import { callUpstream, type UpstreamCall } from '@/upstream/client'
import { describeFailure, toGatewayError, type UpstreamFailure } from '@/upstream/failure'
import { noteDoubts, noteLeftOut } from './attempt-notes'
import { awaitContent, type CommittedStream } from './commit-point'
import { type DrainSlots, readingOnOf, type Streams } from './drain-slots'
import { foldStream } from './fold-stream'
import type { Failed, OpenAttempt } from './open-attempt'
import { type CompleteAnswer, completeAnswer, decodeComplete, MAX_ANSWER_BYTES } from './read-complete'
import { openStreamSource, type StreamSource } from './stream-source'

export type AttemptDeps = { logger: Logger; drains: DrainSlots; streams: Streams }

type AttemptInput = {
  call: Pick<ArrivedRequest, 'requestId' | 'payer' | 'format' | 'asked'> & { signal: AbortSignal }
  attempt: OpenAttempt<StartedAnswer>
  request: ChatRequest
  providerFormat: Format
  /** Beta features that the target has refused, under the names that the caller sent. */
  refusedBetas?: ReadonlySet<string>
}

/**
 * The result of a call. `abandoned`: the client disconnected, or another attempt was faster. The upstream may have worked on it. If
 * the client disconnected but must still pay, the result is nevertheless the stream or the complete answer.
 */
export type StartedAnswer =
  | CompleteAnswer
  | CommittedStream
  | { kind: 'abandoned'; hasSent: boolean; isUnreached?: true }

/**
 * Calls the permit's target and ends the attempt. If the target refuses another account's reasoning or a beta feature, it is called again
 * without this part. The refused call is free.
 */
export async function attemptTarget(
  deps: AttemptDeps,
  call: AttemptInput['call'],
  request: ChatRequest,
  attempt: OpenAttempt<StartedAnswer>,
): Promise<void> {
  const { signal, payer } = call
  const { permit } = attempt
  try {
    const { body: own, bodyBytes, text } = askedOf(call)
    let input = inProviderNames(call, request, attempt)
    const encoding = turnFor(bodyBytes)
    if (encoding) await encoding
    const body = encodeBody(deps.logger, input, own)
    if (body instanceof GatewayError)
      return attempt.fail({ error: body, failed: permit.failed({ kind: 'unencodable' }) })
    const writing = turnFor(bodyBytes)
    if (writing) await writing
    let bodyText = (text === undefined ? undefined : copyJson(text, own, body)) ?? JSON.stringify(body)
    // A stream's charge can be computed from its events; a complete answer must be read to its end.
    if (!request.stream) attempt.readingOn = readingOnOf(deps, payer.accountId, permit.planned.target.provider)
    for (let isFirst = true; ; isFirst = false) {
      const sending = turnFor(bodyText.length)
      if (sending) await sending
      // Another attempt may have succeeded meanwhile.
      if (attempt.isDropped)
        return conclude(deps.logger, input, { kind: 'abandoned', hasSent: false, isUnreached: true })
      const answer = await callUpstream(callOf(deps.logger, input, bodyText))
      let result: Result
      if (attempt.isGivenUp(signal)) result = abandon(answer)
      else if (answer.kind === 'failed') result = answer
      else if (answer.isEventStream) result = stillWanted(input, answer, await readStream(input, answer))
      else result = stillWanted(input, answer, decodeWhole(input, await answer.readAll(MAX_ANSWER_BYTES)))
      if (result.kind === 'failed' && answer.kind === 'answer')
        result = { kind: 'failed', failure: answer.named(result.failure) }
      const failure = isFirst && result.kind === 'failed' && !signal.aborted ? result.failure : undefined
      const allowed = failure && withoutRefusedBetas(deps.logger, input, failure)
      const stripped = allowed
        ? encodeBody(deps.logger, allowed, own)
        : failure && withoutForeignProofs(deps.logger, input, body, failure)
      if (!stripped || stripped instanceof GatewayError) return conclude(deps.logger, input, result)
      input = allowed ?? input
      bodyText = JSON.stringify(stripped)
    }
  } catch (error) {
    attempt.crash(error)
  } finally {
    attempt.readingOn?.over()
  }
}

function inProviderNames(
  call: AttemptInput['call'],
  request: ChatRequest,
  attempt: AttemptInput['attempt'],
): AttemptInput {
  const { providerFormat } = attempt
  const fitted = call.format === providerFormat ? undefined : fitToolNames(request, providerFormat.toolNames)
  if (!fitted) return { call, attempt, request, providerFormat }
  const named = withCallerNames(providerFormat, fitted.callerNames)
  return { call, attempt, request: fitted.request, providerFormat: named }
}

type Result = StartedAnswer | { kind: 'failed'; failure: UpstreamFailure }

function conclude(logger: Logger, { call, attempt, providerFormat }: AttemptInput, result: Result): void {
  const { permit } = attempt
  if (result.kind === 'failed')
    attempt.fail(noteFailure(logger, call.requestId, permit, result.failure, call.format === providerFormat))
  else if (result.kind === 'complete' || (result.kind === 'stream' && !call.signal.aborted)) attempt.begin(result)
  else {
    permit.abandoned()
    attempt.answer(result)
  }
}

/** The input without the betas that the target refused; undefined if it refused for another reason. */
function withoutRefusedBetas(logger: Logger, input: AttemptInput, failure: UpstreamFailure): AttemptInput | undefined {
  const { call, attempt, request, providerFormat } = input
  if (failure.kind !== 'refused' || failure.error.status !== 400) return undefined
  if (!request.protocol || call.format !== providerFormat) return undefined
  const { target, model } = attempt.permit.planned
  const refused = betasRefused(request.protocol, failure.error.message, traitsOf(input))
  if (refused.length === 0) return undefined
  const { requestId } = call
  logger.warn('betas_refused', {
    requestId,
    model: model.id,
    provider: target.provider.name,
    betas: showFields(refused),
  })
  attempt.leftOut = []
  return { ...input, refusedBetas: new Set(refused) }
}

/** The body without another account's reasoning, which the target refused; undefined if it refused for another reason. */
function withoutForeignProofs(
  logger: Logger,
  { call: { requestId }, attempt: { permit }, providerFormat }: AttemptInput,
  body: JsonObject,
  failure: UpstreamFailure,
): JsonObject | undefined {
  const isProof = failure.kind === 'refused' && failure.error.reason === 'proof'
  const { dialect } = permit.planned.target.provider
  const stripped = isProof ? (dialect.withoutProofs ?? providerFormat.withoutProofs)?.(body) : undefined
  if (stripped) logger.info('foreign_proofs_left_out', { requestId, model: permit.planned.model.id })
  return stripped
}

function callOf(logger: Logger, input: AttemptInput, bodyText: string): UpstreamCall {
  const { call, attempt, providerFormat, request } = input
  const { planned, key } = attempt.permit
  const { target } = planned
  const { name, dialect } = target.provider
  return {
    target,
    key,
    format: providerFormat,
    stream: request.stream,
    bodyText,
    signal: call.signal,
    handle: attempt,
    protocol: sentProtocol(input),
    readingOn: attempt.readingOn,
    doubted: dialect.readAnswer && noteDoubts(logger, call.requestId, name),
    traceHeaders: attempt.listener?.headers,
  }
}

/** Ends a call that is no longer needed. Returns `abandoned`, and whether the provider was never reached. */
function abandon(answer: Awaited<ReturnType<typeof callUpstream>>): StartedAnswer {
  if (answer.kind === 'answer') answer.abort()
  else if (answer.failure.kind === 'unreachable' && answer.failure.isUnheard)
    return { kind: 'abandoned', hasSent: false, isUnreached: true }
  return { kind: 'abandoned', hasSent: false }
}

/** The answer, or `abandoned` if the client disconnected or another attempt won. The call's cost may still be charged. */
function stillWanted({ call, attempt }: AttemptInput, answer: UpstreamAnswer, result: Result): Result {
  if (!attempt.isDropped) {
    if (result.kind === 'complete' || !attempt.isGivenUp(call.signal)) return result
    if (result.kind === 'stream' && answer.hasSent()) return result
  }
  const hasSent = !attempt.isDropped && answer.hasSent()
  answer.abort()
  return { kind: 'abandoned', hasSent }
}

function decodeWhole({ call, providerFormat }: AttemptInput, body: UpstreamBody): Result {
  return decodeComplete(body, providerFormat, call.format !== providerFormat)
}

/** Reads a stream up to the commit point, or to its end if the client doesn't stream. */
function readStream(input: AttemptInput, answer: UpstreamAnswer): Promise<Result> {
  const { call, attempt, providerFormat, request } = input
  const source = openStreamSource(answer, providerFormat)
  if (!request.stream) return readFolded(input, source)
  // We must pay for an answer that has started, so it may have to be read to its end for its usage.
  if (attempt.permit.planned.target.provider.onDisconnect.kind !== 'abort') source.outliveClient()
  return awaitContent(source, call.format !== providerFormat, call.signal)
}

/** Folds a stream into one complete answer, if the provider streams although we did not ask for a stream. */
async function readFolded({ call, attempt, providerFormat }: AttemptInput, source: StreamSource): Promise<Result> {
  const result = await foldStream(source, MAX_ANSWER_BYTES, attempt.charge.meter)
  if (result.kind === 'failed') return result
  return completeAnswer(result.response, undefined, call.format !== providerFormat)
}

function sentProtocol(input: AttemptInput) {
  const protocol = protocolOf(input)
  return protocol && (input.attempt.permit.planned.target.provider.dialect.protocolHeaders?.(protocol) ?? protocol)
}

function protocolOf(input: AttemptInput) {
  const { request, call, providerFormat, attempt } = input
  if (!request.protocol || call.format !== providerFormat) return undefined
  return protocolHeaders(request.protocol, traitsOf(input), attempt.permit.planned.target.provider.headers)
}

/** The target's properties, as encoders need them. */
function traitsOf({ call, request, attempt, refusedBetas }: AttemptInput): TargetTraits {
  const { model, target } = attempt.permit.planned
  const { provider, quirks, toolPrices } = target
  const { passFields, betas, dialect } = provider
  return {
    model: target.model,
    maxOutputTokens: model.maxOutputTokens,
    quirks,
    passFields,
    betas,
    toolPrices,
    takenBeta: dialect.takenBeta,
    refusedBetas,
    accountId: call.payer.accountId,
    serviceTier: pricedTier(request, target),
  }
}

/** The body to send. If the target's format can't express the request, the error for the client. */
function encodeBody(logger: Logger, input: AttemptInput, body: JsonObject): JsonObject | GatewayError {
  const { call, attempt, providerFormat } = input
  const clientFormat = call.format
  const { model, target } = attempt.permit.planned
  const request = withinModel(input.request, model)
  const traits = traitsOf(input)
  const isOwnFormat = clientFormat === providerFormat
  if (request.serverTools) {
    const untaken = untakenTools(request.serverTools, target, isOwnFormat)
    traits.toolLimits = toolAllowance(request.serverTools, target).limits
    traits.untakenTools = new Set(untaken.map(({ field }) => field))
    noteLeftOut(logger, input.call.requestId, [...traits.untakenTools])
    attempt.leftOut = untaken.map(({ name }) => name)
  }
  try {
    const encoded = isOwnFormat ? undefined : providerFormat.encodeRequest(request, traits)
    if (encoded && encoded.warnings.length > 0) noteWarnings(logger, input, encoded.warnings)
    const fields = encoded
      ? [...lostFields(request, body, clientFormat, providerFormat, encoded.warnings), ...untoldElsewhere(request)]
      : leftOutOfOwn(request, traits)
    if (fields.length > 0) {
      noteLeftOut(logger, input.call.requestId, fields)
      attempt.leftOut = [...fields, ...attempt.leftOut]
    }
    const written = encoded ? encoded.body : clientFormat.passThrough.request(body, request, traits)
    return target.provider.dialect.envelope ? enveloped(logger, input, body, written) : written
  } catch (error) {
    if (error instanceof GatewayError) return error
    throw error
  }
}

/** The body `written` in the target's dialect. `own` is the caller's body. */
function enveloped(logger: Logger, input: AttemptInput, own: JsonObject, written: JsonObject): JsonObject {
  const { attempt, call, providerFormat } = input
  const { provider, family } = attempt.permit.planned.target
  const told = { ...provider.headers, ...protocolOf(input) }
  const sealed = provider.dialect.envelope?.(written, told, family) ?? { body: written, leftOut: [] }
  const leftOut = respelled(sealed.leftOut, own, call.format, providerFormat)
  noteLeftOut(logger, call.requestId, leftOut)
  attempt.leftOut = [...new Set([...leftOut, ...attempt.leftOut])]
  return sealed.body
}

function pricedTier({ serviceTier }: ChatRequest, { serviceTiers }: Target): string | undefined {
  const tier = extraTier(serviceTier)
  return tier !== undefined && serviceTiers?.has(tier) ? tier : undefined
}

/** Limits the output to the model's maximum, since the hold covers no more. */
function withinModel(request: ChatRequest, model: Model): ChatRequest {
  const { maxOutputTokens } = model
  return (request.maxOutputTokens ?? 0) > maxOutputTokens ? { ...request, maxOutputTokens } : request
}

/** Logs only the names of omitted features, since details may quote the caller. */
function noteWarnings(logger: Logger, input: AttemptInput, warnings: readonly Warning[]): void {
  const { requestId } = input.call
  const features = [...new Set(warnings.map((warning) => warning.feature))]
  logger.info('request_features_left_out', { requestId, model: input.attempt.permit.planned.model.id, features })
}

/** Logs a failed call and reports it to the permit. `isOwn`: the provider speaks the caller's format. */
export function noteFailure(
  logger: Logger,
  requestId: string,
  permit: Permit,
  failure: UpstreamFailure,
  isOwn: boolean,
): Failed {
  const { model, target } = permit.planned
  const reason = describeFailure(failure, target.provider)
  const providerRequestId = failure.requestId
  logger.warn('attempt_failed', { requestId, model: model.id, attempt: permit.number, reason, providerRequestId })
  return { error: toGatewayError(failure, target.provider, isOwn), failed: permit.failed(failure) }
}
