/** Headers of every answer: model, provider, attempts, reason, remaining limits, and the gateway's own time. */
import { showFields } from '@/formats/body-fields'
import type { Format, Framing } from '@/formats/format'
import type { OpenCharge } from '@/gateway/charge/open-charge'
import type { Hold } from '@/gateway/hold/hold'
import type { Clock } from '@/lib/clock'
import type { Metrics } from '@/metrics/metrics'

export type HeaderFacts = {
  /** Milliseconds spent waiting for upstreams before the answer began. */
  upstreamMs: number
  /** The output limit that the balance could pay, if the caller set none and the model's own was too expensive. */
  loweredCap: number | undefined
  leftOut: readonly string[]
}

/** Headers that make proxies pass on a stream unbuffered. */
export function streamHeaders({ contentType }: Pick<Framing, 'contentType'>): Record<string, string> {
  return { 'content-type': contentType, 'cache-control': 'no-cache', 'x-accel-buffering': 'no' }
}

/** The headers known before an answer. */
export function waitingHeaders(
  clock: Clock,
  format: Format,
  { hold, requestId }: { hold: Pick<Hold, 'limits'>; requestId: string },
  loweredCap: number | undefined,
): Record<string, string> {
  const headers = format.rateLimitHeaders(hold.limits, clock.now())
  headers['x-content-type-options'] = 'nosniff'
  headers['x-request-id'] = requestId
  if (format.requestIdHeader) headers[format.requestIdHeader] = requestId
  if (loweredCap !== undefined) headers['x-svc-max-output-tokens'] = String(loweredCap)
  return headers
}

/** The headers of an answer that begins now. Call it once per answer, because it records the overhead in metrics. */
export function answerHeaders(
  deps: { clock: Clock; metrics: Pick<Metrics, 'overhead'> },
  format: Format,
  { facts, hold, arrivedMonotonicMs }: OpenCharge,
  { upstreamMs, loweredCap, leftOut }: HeaderFacts,
): Record<string, string> {
  const overheadMs = Math.max(0, deps.clock.monotonic() - arrivedMonotonicMs - upstreamMs)
  deps.metrics.overhead(overheadMs)
  const headers = waitingHeaders(deps.clock, format, { hold, requestId: facts.requestId }, loweredCap)
  headers['x-svc-model'] = facts.model
  headers['x-svc-provider'] = facts.provider
  headers['x-svc-attempts'] = String(facts.attempts)
  headers['x-svc-route-reason'] = facts.routeReason
  headers['x-svc-overhead-ms'] = overheadMs.toFixed(3)
  if (leftOut.length > 0) headers['x-svc-left-out'] = showFields(leftOut)
  return headers
}
