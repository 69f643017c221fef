/** Calls the targets of a plan for the vectors of an embeddings request. */

import type { Target } from '@/catalog/types'
import type { EmbeddingAnswer } from '@/chat/embedding'
import type { ProviderEmbeddings } from '@/dialects/dialect'
import { type AttemptDeps, noteFailure } from '@/gateway/attempt/attempt'
import type { OpenAttempt } from '@/gateway/attempt/open-attempt'
import { type Race, raceAttempts, type Winner } from '@/gateway/attempt/race-attempts'
import { MAX_ANSWER_BYTES } from '@/gateway/attempt/read-complete'
import { Meter } from '@/gateway/charge/meter'
import type { Hold } from '@/gateway/hold/hold'
import { assert } from '@/lib/assert'
import type { Clock } from '@/lib/clock'
import { turnFor } from '@/lib/wait/own-turn'
import type { Permit } from '@/routing/failover/permit'
import { callUpstream } from '@/upstream/client'
import { embeddingsUrl } from '@/upstream/endpoints'
import type { UpstreamFailure } from '@/upstream/failure'
import type { EmbeddingDeps, EmbeddingRequestCall } from './embedding-call'
import type { EmbeddingOffer } from './embedding-offer'
import type { Embedded } from './tell-vectors'

/** Tries the targets of an offer until one has returned the vectors of all inputs. */
export function raceEmbeddings(
  deps: EmbeddingDeps,
  call: EmbeddingRequestCall,
  hold: Hold,
  { plan }: EmbeddingOffer,
): Promise<Winner<Embedded>> {
  const answered: AnsweredCalls = new Map()
  const { accountId } = call.payer
  return raceAttempts<Embedded>({
    ...{ deps, call, hold, plan },
    failover: deps.router.begin(plan, { accountId, stream: false, signal: call.signal }),
    begin: (permit, race) => begin(deps, call, permit, race, answered),
  })
}

function begin(
  deps: EmbeddingDeps,
  call: EmbeddingRequestCall,
  permit: Permit,
  race: Race<Embedded>,
  answered: AnsweredCalls,
): void {
  const { planned, number } = permit
  const asked = { number, planned, operation: 'embeddings', request: call.request } as const
  const listener = deps.tracing?.attempting(call.requestId, asked)
  const request = { model: call.request.model, stream: false }
  const attempt = race.open(permit, {
    request,
    meter: new Meter(0),
    tools: undefined,
    writesForHour: false,
    listener,
  })
  const { provider, model, family = model } = planned.target
  const embeddings = provider.dialect.embeddings?.(family) ?? attempt.providerFormat.embeddings
  assert(embeddings, `no embeddings in ${planned.target.provider.format}`)
  void attemptEmbedding(deps, { call, attempt, embeddings }, answered)
}

type AnsweredCalls = Map<Target, EmbeddingAnswer[]>

type EmbeddingAttempt = { call: EmbeddingRequestCall; attempt: OpenAttempt<Embedded>; embeddings: ProviderEmbeddings }

/** Requests the vectors of all inputs from a target in several calls. Answered inputs are not requested again. Never rejects. */
async function attemptEmbedding(
  deps: Pick<AttemptDeps, 'logger'> & { clock: Clock },
  { call, attempt, embeddings }: EmbeddingAttempt,
  answered: AnsweredCalls,
): Promise<void> {
  const { permit } = attempt
  const { target } = permit.planned
  const answers = answered.get(target) ?? []
  answered.set(target, answers)
  const { inputs } = call.request
  const startedMs = deps.clock.monotonic()
  try {
    for (;;) {
      const start = answers.length * embeddings.maxInputs
      if (start >= inputs.length) break
      const isLate = deps.clock.monotonic() - startedMs >= target.provider.timeouts.totalMs
      const result = isLate ? OVERTIME : await askOnce({ call, attempt, embeddings }, start)
      if (call.signal.aborted || attempt.isDropped) {
        if (!('kind' in result)) answers.push(result)
        if (answers.length * embeddings.maxInputs >= inputs.length) break
        permit.abandoned()
        const inputCount = Math.max(answers.length, 1) * embeddings.maxInputs
        const isUnreached = 'kind' in result && result.kind === 'unreachable' && result.isUnheard
        return attempt.answer({ kind: 'abandoned', answers, inputs: inputCount, ...(isUnreached && { isUnreached }) })
      }
      if ('kind' in result)
        return attempt.fail(
          noteFailure(deps.logger, call.requestId, permit, result, call.format === attempt.providerFormat),
        )
      answers.push(result)
      // The silence of the target is measured from its latest answer.
      attempt.sinceMs = deps.clock.monotonic()
    }
    attempt.begin({ kind: 'embedded', answers, inputs: inputs.length })
  } catch (error) {
    attempt.crash(error)
  }
}

const OVERTIME: UpstreamFailure = { kind: 'timeout', phase: 'total' }

async function askOnce(
  { call, attempt, embeddings }: EmbeddingAttempt,
  start: number,
): Promise<EmbeddingAnswer | UpstreamFailure> {
  const { permit, providerFormat } = attempt
  const { request, format, signal } = call
  const { target } = permit.planned
  const { provider, model, quirks } = target
  const traits = { model, quirks, passFields: provider.passFields }
  const end = Math.min(start + embeddings.maxInputs, request.inputs.length)
  const isOwn = format === providerFormat
  const encoding = embeddings.askedEncoding(request, traits)
  const body = embeddings.encodeRequest({ request, start, end, body: isOwn ? call.body : undefined, encoding }, traits)
  const answer = await callUpstream({
    target,
    key: permit.key,
    format: providerFormat,
    stream: false,
    signal,
    handle: attempt,
    url: embeddingsUrl(target),
    bodyText: JSON.stringify(body),
    traceHeaders: attempt.listener?.headers,
  })
  if (answer.kind === 'failed') return answer.failure
  const read = await answer.readAll(MAX_ANSWER_BYTES)
  if (read.kind === 'failed') return answer.named(read.failure)
  // The list of vectors is only left unparsed if it is the whole answer, in the caller's format and encoding.
  const isWhole = isOwn && end - start === request.inputs.length
  const written = isWhole && encoding === request.encoding ? encoding : undefined
  // A small request may have an answer of many megabytes, whose decoding must wait its turn.
  const decoding = turnFor(read.bytes.length)
  if (decoding) await decoding
  const decoded = await embeddings.decodeResponse(read.bytes, { count: end - start, written })
  return decoded ?? answer.named({ kind: 'malformed', detail: 'answer is not the vectors that were asked for' })
}
