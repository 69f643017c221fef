/** Calls the targets of a plan until one has begun to answer a request that is no conversation. */

import { GatewayError } from '@/chat/error'
import type { Unit } from '@/chat/units'
import type { MediaAnswer, MediaBody, MediaCall, MediaPiece, MediaReader, MediaTraits } from '@/formats/media-call'
import { noteFailure } from '@/gateway/attempt/attempt'
import type { OpenAttempt } from '@/gateway/attempt/open-attempt'
import { type Race, raceAttempts, type Winner } from '@/gateway/attempt/race-attempts'
import { MAX_ANSWER_BYTES } from '@/gateway/attempt/read-complete'
import { Meter } from '@/gateway/charge/meter'
import type { Hold } from '@/gateway/hold/hold'
import { assert } from '@/lib/assert'
import { turnFor } from '@/lib/wait/own-turn'
import type { Permit } from '@/routing/failover/permit'
import type { UpstreamAnswer } from '@/upstream/answer'
import { callUpstream } from '@/upstream/client'
import { mediaUrl } from '@/upstream/endpoints'
import type { UpstreamFailure } from '@/upstream/failure'
import type { MediaDeps, MediaRequestCall } from './media-call'
import { likelyUnits, type MediaOffer } from './media-offer'

/** A whole answer, a streamed one with its first bytes, or none because the client disconnected or another attempt won. */
export type StartedMedia =
  | { kind: 'whole'; answer: MediaAnswer }
  | { kind: 'stream'; source: UpstreamAnswer; reader: MediaReader; first: MediaPiece }
  | { kind: 'abandoned'; isUnreached?: true }

/** Calls the targets of an offer until one of them answers. */
export function raceMedia(
  deps: MediaDeps,
  call: MediaRequestCall,
  hold: Hold,
  { plan }: MediaOffer,
): Promise<Winner<StartedMedia>> {
  const { accountId } = call.payer
  return raceAttempts<StartedMedia>({
    ...{ deps, call, hold, plan },
    failover: deps.router.begin(plan, { accountId, stream: call.request.stream, signal: call.signal }),
    begin: (permit, race) => begin(deps, call, permit, race),
  })
}

function begin(deps: MediaDeps, call: MediaRequestCall, permit: Permit, race: Race<StartedMedia>): void {
  const { planned, number } = permit
  const { kind, request } = call
  const listener = deps.tracing?.attempting(call.requestId, { number, planned, operation: kind, request })
  const attempt = race.open(permit, {
    request,
    meter: new Meter(planned.model.maxOutputTokens * (request.answers ?? 1)),
    tools: undefined,
    writesForHour: false,
    listener,
  })
  attempt.charge.countedUnits = likelyUnits(request)
  void attemptMedia(deps, call, attempt)
}

/** Calls one target and reads the start of its answer. Never rejects. */
async function attemptMedia(
  deps: Pick<MediaDeps, 'logger'>,
  call: MediaRequestCall,
  attempt: OpenAttempt<StartedMedia>,
): Promise<void> {
  const { permit } = attempt
  try {
    const result = await ask(call, attempt)
    if (!('failed' in result)) return attempt.begin(result)
    const { failed } = result
    if (failed instanceof GatewayError)
      return attempt.fail({ error: failed, failed: permit.failed({ kind: 'unencodable' }) })
    if (!attempt.isGivenUp(call.signal))
      return attempt.fail(
        noteFailure(deps.logger, call.requestId, permit, failed, call.format === attempt.providerFormat),
      )
    permit.abandoned()
    const isUnreached = failed.kind === 'unreachable' && failed.isUnheard
    attempt.answer({ kind: 'abandoned', ...(isUnreached && { isUnreached }) })
  } catch (error) {
    attempt.crash(error)
  }
}

type Failed = { failed: UpstreamFailure | GatewayError }

async function ask(
  call: MediaRequestCall,
  attempt: OpenAttempt<StartedMedia>,
): Promise<Exclude<StartedMedia, { kind: 'abandoned' }> | Failed> {
  const { permit, providerFormat } = attempt
  const { target } = permit.planned
  const own = call.request.callFor(providerFormat)
  assert(own, `no ${call.kind} in ${target.provider.format}`)
  const traits = traitsOf(permit)
  let encoded: MediaBody
  try {
    encoded = await own.encode(traits)
  } catch (error) {
    if (error instanceof GatewayError) return { failed: error }
    throw error
  }
  const { path, body, isWhole, leftOut = [] } = encoded
  attempt.leftOut = leftOut
  const answer = await callUpstream({
    target,
    key: permit.key,
    format: providerFormat,
    stream: call.request.stream && !isWhole,
    signal: call.signal,
    handle: attempt,
    url: path === undefined ? undefined : mediaUrl(target, path),
    ...(body instanceof FormData ? { bodyText: '', form: body } : { bodyText: JSON.stringify(body) }),
    protocol: ANY_ANSWER,
    traceHeaders: attempt.listener?.headers,
  })
  if (answer.kind === 'failed') return { failed: answer.failure }
  return await readStart(own, answer, traits)
}

/** Accepts every content type, since answers may be sounds, pictures or texts. */
const ANY_ANSWER = { accept: '*/*' }

async function readStart(
  own: MediaCall,
  answer: UpstreamAnswer,
  traits: MediaTraits,
): Promise<Exclude<StartedMedia, { kind: 'abandoned' }> | Failed> {
  const reader = own.read?.(answer.contentType, traits)
  if (reader) {
    const first = await firstPiece(answer, reader)
    return 'bytes' in first ? { kind: 'stream', source: answer, reader, first } : { failed: answer.named(first) }
  }
  const read = await answer.readAll(MAX_ANSWER_BYTES)
  if (read.kind === 'failed') return { failed: answer.named(read.failure) }
  const decoding = turnFor(read.bytes.length)
  if (decoding) await decoding
  const decoded = own.decode(read.bytes, answer.contentType, traits)
  return decoded ? { kind: 'whole', answer: decoded } : { failed: answer.named(NOT_ASKED_FOR) }
}

/** Reads up to the first piece with bytes for the client. If a fault comes before that piece, the next target is called. */
async function firstPiece(answer: UpstreamAnswer, reader: MediaReader): Promise<MediaPiece | UpstreamFailure> {
  for (;;) {
    const chunk = await answer.read()
    if (chunk.kind === 'failed') return chunk.failure
    if (chunk.kind === 'done') return NOTHING_CAME
    const piece = reader.push(chunk.bytes)
    if (piece.error) answer.abort()
    if (piece.error) return { kind: 'refused', error: piece.error }
    if (piece.bytes.length > 0) return piece
  }
}

const NOTHING_CAME: UpstreamFailure = { kind: 'malformed', detail: 'answer is empty' }
const NOT_ASKED_FOR: UpstreamFailure = { kind: 'malformed', detail: 'answer is not what was asked for' }

function traitsOf({ planned: { model, target } }: Permit): MediaTraits {
  const { quirks, provider } = target
  const { lines = [] } = model.pricing
  const sellsTokens = model.pricing.base.input > 0 || model.pricing.base.output > 0
  return {
    model: target.model,
    family: target.family,
    quirks,
    passFields: provider.passFields,
    sells: (unit: Unit) => (unit === 'token' && sellsTokens) || lines.some((line) => line.unit === unit),
  }
}
