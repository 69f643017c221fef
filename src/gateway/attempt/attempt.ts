/**
 * One attempt at one target: says the request in the target's format, sends it, reads up to the commit point, and tells the
 * permit what came of it. Every fault until then is a value, so that another target may be tried.
 */
import { toolAllowance, untakenTools } from '@/catalog/tool-allowance'
import type { Model } from '@/catalog/types'
import { GatewayError } from '@/chat/error'
import type { ChatRequest, Warning } from '@/chat/request'
import { showFields } from '@/formats/body-fields'
import { lostFields } from '@/formats/field-fates'
import type { Format, TargetTraits } from '@/formats/format'
import { leftOutOfOwn, protocolHeaders, untoldElsewhere } from '@/formats/protocol'
import { fitToolNames, withCallerNames } from '@/formats/tool-names'
import type { Meter } from '@/gateway/charge/meter'
import type { JsonObject } from '@/lib/json'
import type { Logger } from '@/lib/logger'
import { turnFor } from '@/lib/wait/own-turn'
import type { AttemptFault } from '@/routing/failover/fault-class'
import type { FailedAttempt, Permit } from '@/routing/failover/permit'
import type { Tracing } from '@/telemetry/tracing'
import { type CallHandle, callUpstream, type UpstreamAnswer } from '@/upstream/client'
import { describeFailure, toGatewayError, type UpstreamFailure } from '@/upstream/failure'
import { awaitContent, type CommittedStream } from './commit-point'
import { createReadingOn, type DrainSlots, type Streams } from './drain-slots'
import { foldStream } from './fold-stream'
import { type CompleteAnswer, completeAnswer, MAX_ANSWER_BYTES, readComplete } from './read-complete'
import { openStreamSource, type StreamSource } from './stream-source'

/** What an attempt tells of itself, and to whom. */
export type AttemptDeps = {
  logger: Logger
  drains: DrainSlots
  streams: Streams
  tracing?: Tracing | undefined
}

type AttemptInput = {
  requestId: string
  accountId: string
  permit: Permit
  clientFormat: Format
  providerFormat: Format
  request: ChatRequest
  /** The caller's own body, for a provider of the caller's own format. */
  body: JsonObject
  /** How long it is, with what it builds on. */
  bodyBytes: number
  signal: AbortSignal
  /** Sees what is read of an answer that is not delivered as it comes. */
  meter: Meter
  handle: AttemptHandle
}

/** Ends an attempt from outside: `end` as its call's handle does, `drop` as one that nobody wants any more. */
export type AttemptHandle = CallHandle & {
  drop(): void
  isDropped: boolean
  /** Fields of the caller's body that the target was not sent. */
  leftOut: readonly string[]
}

/** The handle of an attempt that has yet to begin. */
export function createAttemptHandle(): AttemptHandle {
  const handle: AttemptHandle = {
    end: () => undefined,
    drop() {
      handle.isDropped = true
      handle.end()
    },
    isDropped: false,
    leftOut: [],
  }
  return handle
}

/**
 * What there is to relay; `abandoned` where the client went away, or another attempt won, while the upstream was at work, which may
 * have sent something by then, or never have got the request. A stream may be one that nobody waits for any more, and so may an
 * answer in one piece, which is read on.
 */
export type StartedAnswer =
  | CompleteAnswer
  | CommittedStream
  | { kind: 'abandoned'; hasSent: boolean; isUnreached?: true }

/** No answer: what the caller is told if no other target does better, and what the failover decides by. */
export type Failed = { kind: 'failed'; error: GatewayError; failed: FailedAttempt }

/**
 * Calls the permit's target, and once more where it refuses what another account has proven to have thought: that says nothing of the
 * target or of the request, and the answer is the same conversation's without it. A refusal costs nothing.
 */
export async function attemptTarget(deps: AttemptDeps, asked: AttemptInput): Promise<StartedAnswer | Failed> {
  const { permit, requestId, signal } = asked
  try {
    const input = inProviderNames(asked)
    const body = encodeBody(deps, input)
    if (body instanceof GatewayError) return fail(deps, input, { kind: 'unencodable' }, body)
    const writing = turnFor(input.bodyBytes)
    if (writing) await writing
    let result = await callTarget(deps, input, JSON.stringify(body))
    if (result.kind === 'failed' && !signal.aborted) {
      const stripped = withoutForeignProofs(deps, input, body, result.failure)
      if (stripped) result = await callTarget(deps, input, JSON.stringify(stripped))
    }
    if (result.kind === 'failed') return noteFailure(deps, input, result.failure)
    const hasContent = result.kind === 'complete' || (result.kind === 'stream' && !signal.aborted)
    if (hasContent) {
      permit.began()
      deps.tracing?.began(requestId, permit.number)
    } else permit.abandoned()
    return result
  } catch (error) {
    // A bug of ours: it must not keep the slot as well.
    permit.abandoned()
    deps.tracing?.failed(requestId, permit.number, undefined)
    throw error
  }
}

/** A provider of another format that does not take the names of the caller's tools is told others, whatever it then says of them. */
function inProviderNames(input: AttemptInput): AttemptInput {
  const { clientFormat, providerFormat } = input
  const fitted = clientFormat === providerFormat ? undefined : fitToolNames(input.request, providerFormat.toolNames)
  if (!fitted) return input
  return { ...input, request: fitted.request, providerFormat: withCallerNames(providerFormat, fitted.callerNames) }
}

/** The body without what the target has refused as somebody else's thoughts; undefined where that is not why it refused. */
function withoutForeignProofs(
  { logger }: AttemptDeps,
  { requestId, permit, providerFormat }: AttemptInput,
  body: JsonObject,
  failure: UpstreamFailure,
): JsonObject | undefined {
  const isProof = failure.kind === 'refused' && failure.error.reason === 'proof'
  const stripped = isProof ? providerFormat.withoutProofs?.(body) : undefined
  if (stripped) logger.info('foreign_proofs_left_out', { requestId, model: permit.planned.model.id })
  return stripped
}

async function callTarget(
  deps: AttemptDeps,
  input: AttemptInput,
  bodyText: string,
): Promise<StartedAnswer | { kind: 'failed'; failure: UpstreamFailure }> {
  const { requestId, permit, providerFormat, request, signal, handle } = input
  const { target } = permit.planned
  // Of a stream, what came tells what is owed; of an answer in one piece, only its end does.
  const readingOn = request.stream ? undefined : createReadingOn(deps, input.accountId, target.provider)
  const isGivenUp = () => handle.isDropped || (signal.aborted && !readingOn?.isUnderWay())
  try {
    const sending = turnFor(bodyText.length)
    if (sending) await sending
    // Somebody else's answer may have come meanwhile.
    if (handle.isDropped) return { kind: 'abandoned', hasSent: false, isUnreached: true }
    const answer = await callUpstream({
      target,
      key: permit.key,
      format: providerFormat,
      stream: request.stream,
      bodyText,
      signal,
      handle,
      protocol: protocolOf(input),
      leave: readingOn?.leave,
      traceHeaders: deps.tracing?.contextFor(requestId, permit.number),
    })
    if (answer.kind === 'failed') return isGivenUp() ? abandoned(answer.failure) : answer
    if (isGivenUp()) {
      answer.abort()
      return { kind: 'abandoned', hasSent: false }
    }
    const result = await readAnswer(input, answer)
    if (handle.isDropped) {
      answer.abort()
      return { kind: 'abandoned', hasSent: false }
    }
    if (!isGivenUp() || result.kind === 'complete') return result
    const hasSent = answer.hasSent()
    if (result.kind === 'stream' && hasSent) return result
    answer.abort()
    return { kind: 'abandoned', hasSent }
  } finally {
    readingOn?.over()
  }
}

function abandoned(failure: UpstreamFailure): StartedAnswer {
  const isUnreached = failure.kind === 'unreachable' && failure.isUnheard
  return { kind: 'abandoned', hasSent: false, ...(isUnreached && { isUnreached }) }
}

function readAnswer(input: AttemptInput, answer: UpstreamAnswer) {
  const { clientFormat, providerFormat, request, signal, permit } = input
  const isTranslated = clientFormat !== providerFormat
  if (!answer.isEventStream) return readComplete(answer, providerFormat, isTranslated)
  const source = openStreamSource(answer, providerFormat)
  if (!request.stream) return readFolded(input, source)
  // What the provider has begun is paid for, and may have to be read to its end.
  if (permit.planned.target.provider.onDisconnect.kind !== 'abort') source.outliveClient()
  return awaitContent(source, isTranslated, signal)
}

/** The stream of a provider that answers with one although it was not asked for. */
async function readFolded({ clientFormat, providerFormat, meter }: AttemptInput, source: StreamSource) {
  const result = await foldStream(source, MAX_ANSWER_BYTES, meter)
  if (result.kind === 'failed') return result
  return completeAnswer(result.response, undefined, clientFormat !== providerFormat)
}

/** The headers by which a provider of the caller's own format is asked for what its caller asks for. */
function protocolOf({ request: { protocol }, clientFormat, providerFormat, permit }: AttemptInput) {
  if (!protocol || clientFormat !== providerFormat) return undefined
  const { provider, quirks, toolPrices } = permit.planned.target
  const { passFields, betas, headers } = provider
  return protocolHeaders(protocol, { quirks, passFields, betas, toolPrices }, headers)
}

/** The body to send, or the error that blames the request where the target's format cannot say it. */
function encodeBody(deps: { logger: Logger }, input: AttemptInput): JsonObject | GatewayError {
  const { permit, clientFormat, providerFormat, body, handle } = input
  const { model, target } = permit.planned
  const request = withinModel(input.request, model)
  const traits: TargetTraits = {
    model: target.model,
    maxOutputTokens: model.maxOutputTokens,
    quirks: target.quirks,
    passFields: target.provider.passFields,
    betas: target.provider.betas,
    toolPrices: target.toolPrices,
    accountId: input.accountId,
  }
  const isOwnFormat = clientFormat === providerFormat
  if (request.serverTools) {
    const untaken = untakenTools(request.serverTools, target, isOwnFormat)
    traits.toolLimits = toolAllowance(request.serverTools, target).limits
    traits.untakenTools = new Set(untaken.map(({ field }) => field))
    noteLeftOut(deps, input, [...traits.untakenTools])
    handle.leftOut = untaken.map(({ name }) => name)
  }
  try {
    const encoded = isOwnFormat ? undefined : providerFormat.encodeRequest(request, traits)
    if (encoded && encoded.warnings.length > 0) noteWarnings(deps, input, encoded.warnings)
    const fields = encoded
      ? [...lostFields(request, body, clientFormat, providerFormat, encoded.warnings), ...untoldElsewhere(request)]
      : leftOutOfOwn(request, traits)
    if (fields.length > 0) {
      noteLeftOut(deps, input, fields)
      handle.leftOut = [...fields, ...handle.leftOut]
    }
    return encoded ? encoded.body : clientFormat.passThrough.request(body, request, traits)
  } catch (error) {
    if (error instanceof GatewayError) return error
    throw error
  }
}

/** The hold covers no more output than the model can give, so no more is asked for. */
function withinModel(request: ChatRequest, model: Model): ChatRequest {
  const { maxOutputTokens } = model
  return (request.maxOutputTokens ?? 0) > maxOutputTokens ? { ...request, maxOutputTokens } : request
}

function noteLeftOut(deps: { logger: Logger }, { requestId }: AttemptInput, fields: readonly string[]): void {
  if (fields.length > 0) deps.logger.info('request_fields_left_out', { requestId, fields: showFields(fields) })
}

/** What was left out is said by feature; the details may quote the caller's own values, and stay out of the log. */
function noteWarnings(deps: { logger: Logger }, input: AttemptInput, warnings: readonly Warning[]): void {
  const { requestId, permit } = input
  const features = [...new Set(warnings.map((warning) => warning.feature))]
  deps.logger.info('request_features_left_out', { requestId, model: permit.planned.model.id, features })
}

/** What a failed call comes to: written to the log, told to the permit. */
export function noteFailure(
  deps: Omit<AttemptDeps, 'drains' | 'streams'>,
  attempt: Pick<AttemptInput, 'requestId' | 'permit'>,
  failure: UpstreamFailure,
): Failed {
  const { requestId, permit } = attempt
  const { model, target } = permit.planned
  const reason = describeFailure(failure, target.provider)
  deps.logger.warn('attempt_failed', { requestId, model: model.id, attempt: permit.number, reason })
  return fail(deps, attempt, failure, toGatewayError(failure, target.provider))
}

function fail(
  { tracing }: Pick<AttemptDeps, 'tracing'>,
  { requestId, permit }: Pick<AttemptInput, 'requestId' | 'permit'>,
  fault: AttemptFault,
  error: GatewayError,
): Failed {
  tracing?.failed(requestId, permit.number, fault)
  return { kind: 'failed', error, failed: permit.failed(fault) }
}
