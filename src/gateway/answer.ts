/** One answer on its way out: who gave it, how it is told to the client, and how it becomes a usage record. */
import { ZERO_USAGE } from '@/chat/usage'
import type { AnswerContext, Format } from '@/formats/format'
import { decideCharge } from '@/gateway/charge/charge'
import type { Meter } from '@/gateway/charge/meter'
import type { Hold } from '@/gateway/hold/hold'
import type { SignatureCollector } from '@/gateway/relay/signature-store'
import type { Charge, Ending } from '@/ledger/charge'
import type { RequestFacts } from '@/ledger/usage-record'
import { assert } from '@/lib/assert'
import type { Nano } from '@/lib/money'
import type { Ticket } from '@/routing/journey/ticket'
import type { PlannedTarget } from '@/routing/plan/plan'
import type { UpstreamFailure } from '@/upstream/failure'
import type { ChatCall, ChatDeps } from './chat-call'

/** Everything a relay needs to know of the answer it relays. */
export type Answer = {
  call: ChatCall
  deps: ChatDeps
  hold: Hold
  planned: PlannedTarget
  /** The attempt that this answer came of; told how the answer ends. */
  ticket: Ticket
  /** Why this model answers, in one line. */
  routeReason: string
  providerFormat: Format
  meter: Meter
  /** Notes what the provider signed, where the client speaks another format; undefined where it does not. */
  signatures: SignatureCollector | undefined
  attempts: number
  /** Milliseconds spent waiting for the upstream before the answer's headers went out. */
  upstreamMs: number
  /** When the first content went to the client, in milliseconds since arrival. */
  timing: { firstTokenMs: number | null }
  /** The output cap that the balance could pay, where the caller set none and the model's own was too dear. */
  loweredCap: number | undefined
  context: AnswerContext
}

/** HTTP's unofficial status of a request whose client went away; only ever recorded, never sent. */
export const CLIENT_CLOSED_STATUS = 499

/** Decides the charge for `ending` and ends the hold with it. Returns the charge once the ledger knows (or soon after). */
export async function settleAnswer(answer: Answer, ending: Ending, status: number): Promise<Charge> {
  const charge = chargeFor(answer, ending)
  answer.ticket.ended(ending === 'broken')
  await answer.hold.resolve(charge, (charged) => factsOf(answer, charged, status))
  countOutcome(answer, charge, ending, status)
  logOutcome(answer, charge, ending, status)
  return charge
}

/** Settles a complete answer and keeps its signatures, both before the client can ask anything that builds on it. */
export async function completeAnswer(answer: Answer): Promise<Charge> {
  const { call, deps, signatures } = answer
  const settled = settleAnswer(answer, 'complete', 200)
  if (signatures) await deps.signatures.keep(call.payer.accountId, signatures)
  return settled
}

/** Our count of text can be too high by this factor, as for long runs of blanks. */
const RUNAWAY_FACTOR = 8
const RUNAWAY_SLACK_TOKENS = 2_000

/** Whether the provider has written so far beyond the limit it was given that it will not stop by itself. */
export function isRunaway({ meter, hold }: Answer): boolean {
  return meter.countedOutput() > hold.size.bounds.outputTokens * RUNAWAY_FACTOR + RUNAWAY_SLACK_TOKENS
}

/** What became of it: nobody pays for more than was held, but the stream has to end. */
export const RUNAWAY: UpstreamFailure = { kind: 'broken', detail: 'wrote far beyond its output limit' }

/** What the ledger should charge if this process died right now. */
export function progressOf(answer: Answer): { cost: Nano; facts: RequestFacts } {
  const charge = chargeFor(answer, 'disconnected')
  assert(charge.kind === 'charge', 'an abandoned answer is never free')
  return { cost: charge.cost, facts: factsOf(answer, { ...charge, rule: 'expired' }, CLIENT_CLOSED_STATUS) }
}

/** Headers that every answer carries; the overhead that they state is counted as well, once per answer. */
export function answerHeaders(answer: Answer): Record<string, string> {
  const { call, deps, planned, attempts, upstreamMs } = answer
  const overheadMs = Math.max(0, deps.clock.monotonic() - call.arrivedMonotonicMs - upstreamMs)
  deps.metrics.overhead(overheadMs)
  const headers: Record<string, string> = {
    'x-request-id': call.requestId,
    'x-svc-model': planned.model.id,
    'x-svc-provider': planned.target.provider.name,
    'x-svc-attempts': String(attempts),
    'x-svc-route-reason': answer.routeReason,
    'x-svc-overhead-ms': overheadMs.toFixed(3),
  }
  if (answer.loweredCap !== undefined) headers['x-svc-max-output-tokens'] = String(answer.loweredCap)
  return headers
}

/** What a hold says of its request before any answer: written when it expires without a single renewal. */
export function unreachedFacts(call: ChatCall, planned: PlannedTarget): RequestFacts {
  return {
    ...describeRequest(call, planned),
    usage: ZERO_USAGE,
    rule: 'expired',
    flags: [],
    status: CLIENT_CLOSED_STATUS,
    attempts: 0,
    firstTokenMs: null,
    durationMs: 0,
  }
}

function describeRequest(call: ChatCall, planned: PlannedTarget) {
  return {
    requestId: call.requestId,
    model: planned.model.id,
    requestedModel: call.request.model,
    provider: planned.target.provider.name,
    upstreamModel: planned.target.model,
    clientFormat: call.format.name,
    providerFormat: planned.target.provider.format,
    stream: call.request.stream,
    startedAtMs: call.arrivedAtMs,
  }
}

function chargeFor(answer: Answer, ending: Ending): Charge {
  const { hold, meter, planned } = answer
  return decideCharge(ending, meter.reading(), planned.model.pricing, hold.size.bounds, hold.size.estimatedInput)
}

function factsOf(answer: Answer, charge: Charge & { kind: 'charge' }, status: number): RequestFacts {
  const { call, deps, planned, attempts, timing } = answer
  return {
    ...describeRequest(call, planned),
    usage: charge.usage,
    rule: charge.rule,
    flags: charge.flags,
    status,
    attempts,
    routeReason: answer.routeReason,
    firstTokenMs: timing.firstTokenMs,
    durationMs: Math.round(deps.clock.monotonic() - call.arrivedMonotonicMs),
  }
}

function countOutcome(answer: Answer, charge: Charge, ending: Ending, status: number): void {
  const { call, deps, planned, timing } = answer
  deps.metrics.answered({
    format: call.format.name,
    model: planned.model.id,
    provider: planned.target.provider.name,
    status,
    ending,
    charge,
    firstTokenMs: timing.firstTokenMs,
    durationMs: deps.clock.monotonic() - call.arrivedMonotonicMs,
  })
}

function logOutcome(answer: Answer, charge: Charge, ending: Ending, status: number): void {
  const { call, deps, planned, attempts, timing } = answer
  const own = {
    requestId: call.requestId,
    accountId: call.payer.accountId,
    keyId: call.payer.keyId,
    format: call.format.name,
    model: planned.model.id,
    provider: planned.target.provider.name,
    stream: call.request.stream,
    ending,
    status,
    attempts,
    firstTokenMs: timing.firstTokenMs,
    durationMs: Math.round(deps.clock.monotonic() - call.arrivedMonotonicMs),
    ...(charge.kind === 'charge' && {
      costNano: charge.cost,
      rule: charge.rule,
      flags: charge.flags,
      usage: charge.usage,
    }),
  }
  deps.logger.infoOwn('chat', own, { requestedModel: call.request.model, routeReason: answer.routeReason })
}
