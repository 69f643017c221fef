/** Settles a request that is no conversation and answers the client: with a whole answer, or with bytes as they arrive. */
import { ZERO_USAGE } from '@/chat/usage'
import type { Winner } from '@/gateway/attempt/race-attempts'
import { chargeNow, type OpenCharge } from '@/gateway/charge/open-charge'
import { settle } from '@/gateway/charge/settle'
import { answerHeaders } from '@/gateway/relay/headers'
import type { Charge, Ending } from '@/ledger/charge'
import { CLIENT_CLOSED_STATUS } from '@/ledger/usage-record'
import { formatUsd } from '@/lib/money'
import type { StartedMedia } from './media-attempts'
import type { MediaDeps, MediaRequestCall } from './media-call'
import { relayMedia } from './relay-media'

export async function tellMedia(
  deps: MediaDeps,
  call: MediaRequestCall,
  { attempt, started, upstreamMs }: Winner<StartedMedia>,
): Promise<Response> {
  const { permit, charge: open } = attempt
  const end = (ending: Ending): Promise<Charge> => {
    permit.ended(ending === 'broken')
    call.onEnd()
    return settle(deps, open, ending)
  }
  if (started.kind === 'abandoned') {
    if (started.isUnreached) open.isUnreached = true
    await end('unanswered')
    return new Response(null, { status: CLIENT_CLOSED_STATUS })
  }
  if (started.kind === 'whole' || !started.reader.isFreeUntilUsage) open.meter.noteOutput()
  observeExact(open, call)
  if (started.kind === 'stream') {
    const headers = headersOf(deps, call, open, { upstreamMs, leftOut: attempt.leftOut })
    // The cost is known before the answer if it depends only on the request.
    if (call.request.isExact) stateCost(headers, chargeNow(open))
    return relayMedia({ deps, call, open, started, headers, provider: permit.planned.target.provider, end })
  }
  const { answer } = started
  if (answer.usage) open.meter.observe({ type: 'usage', usage: answer.usage })
  const charge = await end('complete')
  const headers = headersOf(deps, call, open, { upstreamMs, leftOut: attempt.leftOut })
  headers['content-type'] = answer.contentType
  stateCost(headers, charge)
  return new Response(answer.body, { headers })
}

/** Records the usage of a request whose price depends only on its input, which we know exactly. */
function observeExact({ meter, pricing }: OpenCharge, { request }: MediaRequestCall): void {
  const units = request.most.filter(({ billable, unit }) =>
    pricing.lines?.some((line) => line.billable === billable && line.unit === unit),
  )
  if (request.isExact && units.length > 0) meter.observe({ type: 'usage', usage: { ...ZERO_USAGE, units } })
}

function headersOf(
  deps: MediaDeps,
  { format }: MediaRequestCall,
  open: OpenCharge,
  facts: { upstreamMs: number; leftOut: readonly string[] },
): Record<string, string> {
  return answerHeaders(deps, format, open, { ...facts, loweredCap: undefined })
}

function stateCost(headers: Record<string, string>, charge: Charge): void {
  if (charge.kind === 'charge') headers['x-svc-cost-usd'] = formatUsd(charge.cost)
}
