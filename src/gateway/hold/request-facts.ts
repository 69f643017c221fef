/** What the books know of a request from the moment it is planned, and what they say of it if nothing comes after that. */
import type { ChatRequest } from '@/chat/request'
import type { Format } from '@/formats/format'
import type { Payer } from '@/ledger/outcomes'
import type { RequestFacts } from '@/ledger/usage-record'
import type { PlannedTarget } from '@/routing/plan/plan'
import type { StepFacts } from '@/telemetry/tracing'

/** A request as planning, reserving and the books see it. */
export type ArrivedRequest = {
  requestId: string
  payer: Payer
  format: Pick<Format, 'name'>
  request: ChatRequest
  bodyBytes: number
  /** Wall clock. */
  arrivedAtMs: number
  /** SHA-256 of its idempotency key, where it has one. */
  idempotencyKey?: string | undefined
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
>

/** Who asks for what, and which target is to answer. */
export function plannedFacts(
  arrived: Pick<ArrivedRequest, 'requestId' | 'format' | 'arrivedAtMs' | 'idempotencyKey'> & {
    request: Pick<ChatRequest, 'model' | 'stream'>
  },
  { model, target }: PlannedTarget,
): PlannedFacts {
  const { requestId, request, format, arrivedAtMs, idempotencyKey } = arrived
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
  }
}

/** A plan for whoever looks at a trace: the targets in order, by their names in the catalogue. */
export function describePlan({
  targets,
  requested,
}: {
  targets: readonly PlannedTarget[]
  requested: string
}): StepFacts {
  return { requested_model: requested, targets: targets.map(({ target }) => `${target.provider.name}/${target.model}`) }
}
