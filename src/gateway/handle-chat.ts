/** The use case: plan, reserve, try one target after another until one answers, relay what it says, settle. */

import { createFolder } from '@/chat/fold'
import type { ChatRequest } from '@/chat/request'
import { unfold } from '@/chat/unfold'
import { assert } from '@/lib/assert'
import { nano } from '@/lib/money'
import { buildPlan, type Plan, type PlannedTarget } from '@/routing/plan'
import { describeFailure, isRetryable, toGatewayError, type UpstreamFailure } from '@/upstream/failure'
import { type Answer, CLIENT_CLOSED_STATUS, progressOf, settleAnswer, unreachedRecord } from './answer'
import { type Attempt, attemptTarget } from './attempt'
import type { ChatCall, ChatDeps } from './chat-call'
import { type Hold, type Negotiation, withHold } from './hold'
import { affordableCap, exactSize, quickSize, resize } from './hold-size'
import { createMeter } from './meter'
import { relayJson } from './relay-json'
import { relayStream } from './relay-stream'
import { createSignatureCollector } from './signature-store'
import type { StreamSource } from './stream-source'

/** Answers one chat request. Throws a GatewayError where no answer could begin; the hold is released before it does. */
export async function handleChat(deps: ChatDeps, arrived: ChatCall): Promise<Response> {
  const plan = buildPlan(deps.catalog, arrived.request)
  const call = await restoreSignatures(deps, arrived, plan)
  const negotiated = { request: call.request, loweredCap: undefined as number | undefined }
  const negotiation = negotiate(call, plan, (cap) => {
    negotiated.request = { ...call.request, maxOutputTokens: cap }
    negotiated.loweredCap = cap
  })
  return withHold(deps, call.payer, call.requestId, negotiation, (hold) =>
    answerFromPlan(deps, { ...call, request: negotiated.request }, plan, hold, negotiated.loweredCap),
  )
}

/** A provider of another format than the client's may have signed what the client could not keep. */
async function restoreSignatures(deps: ChatDeps, call: ChatCall, plan: Plan): Promise<ChatCall> {
  if (plan.targets.every(({ target }) => target.provider.format === call.format.name)) return call
  const request = await deps.signatures.restore(call.payer.accountId, call.request)
  if (request === call.request) return call
  const addedBytes =
    Buffer.byteLength(JSON.stringify(request.turns)) - Buffer.byteLength(JSON.stringify(call.request.turns))
  return { ...call, request, bodyBytes: call.bodyBytes + Math.max(0, addedBytes) }
}

/**
 * What to offer when the balance refuses a size: first an exact count instead of the cheap bound; then, where the caller set
 * no output limit, the largest one that the balance pays.
 */
function negotiate(call: ChatCall, plan: Plan, lowerCap: (cap: number) => void): Negotiation {
  const { request } = call
  const quick = quickSize(request, call.bodyBytes, plan.models)
  let size = quick
  let step: 'exact' | 'lowered' | 'none' = 'exact'
  return {
    first: quick,
    record: unreachedRecord(call, firstTarget(plan)),
    async next({ available }) {
      if (step === 'exact') {
        step = request.maxOutputTokens === undefined ? 'lowered' : 'none'
        size = await exactSize(request, quick, plan.models)
        if (size.amount <= available || step === 'none') return size.amount < quick.amount ? size : undefined
      }
      if (step !== 'lowered') return undefined
      step = 'none'
      const cap = affordableCap(request, size, plan.models, nano(Math.max(available, 0)))
      if (cap === undefined) return undefined
      lowerCap(cap)
      return resize({ ...request, maxOutputTokens: cap }, size, plan.models)
    },
  }
}

function firstTarget(plan: Plan): PlannedTarget {
  const [first] = plan.targets
  assert(first, 'a plan has at least one target')
  return first
}

async function answerFromPlan(
  deps: ChatDeps,
  call: ChatCall,
  plan: Plan,
  hold: Hold,
  loweredCap: number | undefined,
): Promise<Response> {
  let primary: { failure: UpstreamFailure; planned: PlannedTarget } | undefined
  let attempts = 0
  for (const planned of plan.targets) {
    attempts++
    const startedMs = deps.clock.monotonic()
    const answer = describeAnswer(deps, call, hold, planned, attempts, loweredCap)
    hold.onRenewal(() => progressOf(answer))
    const attempt = await attemptTarget({
      planned,
      key: deps.keyPool.pick(planned.target.provider),
      clientFormat: call.format,
      providerFormat: answer.providerFormat,
      request: call.request,
      body: call.body,
      signal: call.signal,
    })
    answer.upstreamMs = deps.clock.monotonic() - startedMs
    if (attempt.kind !== 'failed') return relay(answer, attempt)
    const reason = describeFailure(attempt.failure, planned.target.provider)
    deps.logger.warn('attempt_failed', {
      requestId: call.requestId,
      model: planned.model.id,
      attempt: attempts,
      reason,
    })
    primary ??= { failure: attempt.failure, planned }
    if (!isRetryable(attempt.failure)) break
  }
  assert(primary, 'a plan has at least one target')
  throw toGatewayError(primary.failure, primary.planned.target.provider)
}

function describeAnswer(
  deps: ChatDeps,
  call: ChatCall,
  hold: Hold,
  planned: PlannedTarget,
  attempts: number,
  loweredCap: number | undefined,
): Answer {
  const providerFormat = deps.formats.get(planned.target.provider.format)
  assert(providerFormat, `no codec for ${planned.target.provider.format}`)
  const { request } = call
  return {
    call,
    deps,
    hold,
    planned,
    providerFormat,
    meter: createMeter(),
    signatures: providerFormat === call.format ? undefined : createSignatureCollector(),
    attempts,
    upstreamMs: 0,
    timing: { firstTokenMs: null },
    loweredCap,
    context: {
      id: call.requestId,
      model: planned.model.id,
      created: Math.floor(call.arrivedAtMs / 1000),
      wantsUsage: request.wantsUsage,
      wantsReasoning: wantsReasoning(request),
      estimatedInputTokens: hold.size.estimatedInput,
    },
  }
}

function wantsReasoning(request: ChatRequest): boolean {
  return request.reasoning?.visible ?? false
}

/** Shows the answer in the shape the client asked for, whichever shape the provider chose. */
async function relay(answer: Answer, attempt: Exclude<Attempt, { kind: 'failed' }>): Promise<Response> {
  const wantsStream = answer.call.request.stream
  switch (attempt.kind) {
    case 'abandoned':
      return relayAbandoned(answer)
    case 'complete': {
      const { response, text, json } = attempt
      if (!wantsStream) return relayJson(answer, { response, raw: { text, json } })
      const items = [{ sse: { event: undefined, data: undefined, raw: '' }, json: undefined, events: unfold(response) }]
      return relayStream(answer, { source: EMPTY_SOURCE, held: items, pending: undefined, isRaw: false })
    }
    case 'stream':
      if (wantsStream) return relayStream(answer, { ...attempt, isRaw: true })
      return relayFolded(answer, attempt)
  }
}

/** The provider streamed although nobody asked it to: the whole stream is read before anything is said. */
async function relayFolded(answer: Answer, attempt: Extract<Attempt, { kind: 'stream' }>): Promise<Response> {
  const folder = createFolder()
  const early = attempt.pending ? [attempt.pending] : []
  let events = attempt.held.flatMap((item) => item.events)
  for (;;) {
    for (const event of events) {
      folder.push(event)
      answer.meter.observe(event)
    }
    if (answer.meter.hasEnded()) return relayJson(answer, { response: folder.response() })
    const { error } = answer.meter.reading()
    if (error) return refuseFolded(answer, { kind: 'refused', error: { ...error, status: error.status ?? 502 } })
    const batch = await (early.shift() ?? attempt.source.next())
    if (batch.kind === 'failed') return refuseFolded(answer, batch.failure)
    events = batch.kind === 'done' ? batch.events : batch.items.flatMap((item) => item.events)
    if (batch.kind === 'done' && !events.some((event) => event.type === 'end')) {
      return refuseFolded(answer, { kind: 'broken', detail: 'stream ended without its terminator' })
    }
  }
}

/** A complete answer that never became complete was not delivered, and costs nothing; a hang-up costs what it cost. */
async function refuseFolded(answer: Answer, failure: UpstreamFailure): Promise<Response> {
  if (answer.call.signal.aborted) return relayAbandoned(answer)
  throw toGatewayError(failure, answer.planned.target.provider)
}

async function relayAbandoned(answer: Answer): Promise<Response> {
  await settleAnswer(answer, 'disconnected', CLIENT_CLOSED_STATUS)
  return new Response(null, { status: CLIENT_CLOSED_STATUS })
}

const EMPTY_SOURCE: StreamSource = { next: async () => ({ kind: 'done', events: [] }), abort: () => undefined }
