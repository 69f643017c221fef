/** What the books know of a request from the moment it is planned, and what they say of it if nothing comes after that. */
import type { ChatRequest } from '@/chat/request'
import type { Format } from '@/formats/format'
import type { Payer } from '@/ledger/outcomes'
import type { RequestFacts, RequestLabels } from '@/ledger/usage-record'
import { assert } from '@/lib/assert'
import type { JsonObject } from '@/lib/json'
import type { PlannedTarget } from '@/routing/plan/plan'

/** What a request asks for, as it was said and as it was read. `text` is the body as JSON, where that is better copied than written anew. */
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
  /** By what its account sorts usage, where its caller said something of it. */
  labels?: RequestLabels | undefined
}

/** The facts that stay the same whatever becomes of a target's attempt. */
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
>

/** What a request asks for; asserts that it is still there. */
export function askedOf({ asked }: Pick<ArrivedRequest, 'asked'>): Asked {
  assert(asked, 'a request is let go only once its answer flows')
  return asked
}

/** Who asks for what, and which target is to answer. */
export function plannedFacts(
  { requestId, format, arrivedAtMs, idempotencyKey, labels }: Omit<ArrivedRequest, 'asked' | 'payer'>,
  request: { model: string; stream: boolean },
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
  }
}
