/** The facts of a request from its plan on, and the facts that are recorded if nothing follows. */
import type { ChatRequest } from '@/chat/request'
import type { Format } from '@/formats/format'
import type { Payer } from '@/ledger/outcomes'
import type { RequestFacts, RequestLabels } from '@/ledger/usage-record'
import { assert } from '@/lib/assert'
import { type JsonObject, textOf } from '@/lib/json'
import type { PlannedTarget } from '@/routing/plan/plan'

/** A request as sent and as decoded. `text` is the body as JSON, if copying it is better than serialising it again. */
export type Asked = { request: ChatRequest; body: JsonObject; bodyBytes: number; text?: string | undefined }

/** A request as planning, reserving and the books see it. */
export type ArrivedRequest = {
  requestId: string
  payer: Payer
  format: Format
  /** Let go once its answer flows: a stream may live for an hour, and keeps what it can reach. */
  asked: Asked | undefined
  /** Wall clock. */
  arrivedAtMs: number
  /** SHA-256 of its idempotency key, where it has one. */
  idempotencyKey?: string | undefined
  /** The labels that the account sorts its usage by; undefined if the caller sent none. */
  labels?: RequestLabels | undefined
}

/** The facts that stay the same for all attempts. */
export type PlannedFacts = Pick<
  RequestFacts,
  | 'requestId'
  | 'model'
  | 'requestedModel'
  | 'provider'
  | 'upstreamModel'
  | 'clientFormat'
  | 'providerFormat'
  | 'stream'
  | 'startedAtMs'
  | 'idempotencyKey'
  | 'labels'
  | 'answerId'
>

/** The decoded request; asserts that it was not dropped. */
export function askedOf({ asked }: Pick<ArrivedRequest, 'asked'>): Asked {
  assert(asked, 'a request is let go only once its answer flows')
  return asked
}

/** The request's facts with the target that is to answer. */
export function plannedFacts(
  { requestId, format, arrivedAtMs, idempotencyKey, labels }: Omit<ArrivedRequest, 'asked' | 'payer'>,
  request: { model: string; stream: boolean; answerEcho?: JsonObject },
  { model, target }: PlannedTarget,
): PlannedFacts {
  return {
    requestId,
    model: model.id,
    requestedModel: request.model,
    provider: target.provider.name,
    upstreamModel: target.model,
    clientFormat: format.name,
    providerFormat: target.provider.format,
    stream: request.stream,
    startedAtMs: arrivedAtMs,
    idempotencyKey,
    labels,
    answerId: textOf(request.answerEcho?.id),
  }
}
