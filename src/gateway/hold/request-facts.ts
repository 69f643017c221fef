/** The facts of a request once it is planned. They are also recorded in case the process dies. */
import { termsText } from '@/catalog/data-terms'
import type { DataRule } from '@/chat/preferences'
import type { ChatRequest } from '@/chat/request'
import type { Format } from '@/formats/format'
import type { Payer } from '@/ledger/outcomes'
import type { RequestFacts, RequestLabels } from '@/ledger/usage-record'
import { assert } from '@/lib/assert'
import { type JsonObject, textOf } from '@/lib/json'
import type { Permit } from '@/routing/failover/permit'
import { ruleText } from '@/routing/plan/data-rules'

/** A request as sent and as decoded. `text` is the body as JSON, if copying it is cheaper than serialising again. */
export type Asked = { request: ChatRequest; body: JsonObject; bodyBytes: number; text?: string | undefined }

export type ArrivedRequest = {
  requestId: string
  payer: Payer
  format: Format
  /** The request. It is dropped when its answer begins: a stream may live for an hour and would keep the request in memory. */
  asked: Asked | undefined
  /** When the request arrived, by the wall clock. */
  arrivedAtMs: number
  /** SHA-256 of the request's idempotency key, if it has one. */
  idempotencyKey?: string | undefined
  /** Labels by which the account groups its usage; undefined if the caller sent none. */
  labels?: RequestLabels | undefined
  /** Whether the request is a line of a batch: it has the model's batch price. */
  readonly isBatch?: boolean
}

/** The facts that are known when an attempt begins. */
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
  | 'data'
  | 'attempts'
> & { routeReason: string }

/** The decoded request. Asserts that it was not dropped. */
export function askedOf({ asked }: Pick<ArrivedRequest, 'asked'>): Asked {
  assert(asked, 'a request is let go only once its answer flows')
  return asked
}

/** The request's facts with the target of an attempt, and why it was chosen. */
export function plannedFacts(
  { requestId, format, arrivedAtMs, idempotencyKey, labels }: Omit<ArrivedRequest, 'asked' | 'payer'>,
  request: { model: string; stream: boolean; answerEcho?: JsonObject },
  { planned: { model, target }, number: attempts }: Pick<Permit, 'planned' | 'number'>,
  routeReason: string,
  rules: readonly DataRule[] | undefined,
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
    attempts,
    routeReason,
    data: rules && { rules: rules.map(ruleText), terms: termsText(target) },
  }
}
