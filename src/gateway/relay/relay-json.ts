import { shorten } from '@/chat/shorten'
import type { CompleteAnswer } from '@/gateway/attempt/read-complete'
import { beyondLimit } from '@/gateway/charge/charge'
import { chargeAt, type OpenCharge, readingOf } from '@/gateway/charge/open-charge'
import type { Charge } from '@/ledger/charge'
import { formatUsd } from '@/lib/money'
import { answerHeaders } from './headers'
import { completeAnswer, leftAlone, type RelayedAnswer } from './relayed'
import { withCost } from './stated-cost'

/**
 * Relays a complete answer as JSON. It is settled first, so that a header can contain its cost. Settles and answers with JSON in the
 * client's format, unchanged if the provider has the same format. A disconnected client pays for an answer that was still read.
 */
export async function relayJson(answer: RelayedAnswer, { response, raw }: CompleteAnswer): Promise<Response> {
  const { client, providerFormat, charge: open, context } = answer
  const { format } = client
  try {
    // A folded stream was already metered while it was read.
    if (raw) open.meter.observeResponse(response)
    answer.signatures?.observeResponse(response)
    if (client.signal.aborted && chargeAt(open, readingOf(open), 'complete').kind === 'charge')
      return await leftAlone(answer, 'disconnected')
    const charge = await completeAnswer(answer)
    const share = paidShare(open, charge)
    const isWhole = share === undefined
    const shown = isWhole ? response : shorten(response, share)
    const body =
      isWhole && raw && providerFormat === format
        ? format.passThrough.response(raw.text, raw.json, context, answer)
        : JSON.stringify(format.encodeResponse({ ...shown, usage: answer.charged() }, context))
    const text = context.wantsCost ? withCost(body, format, open) : body
    const headers = answerHeaders(answer.deps, format, open, answer)
    headers['content-type'] = 'application/json'
    if (charge.kind === 'charge') headers['x-svc-cost-usd'] = formatUsd(charge.cost)
    return new Response(client.keep ? await client.keep(text, isWhole ? 'complete' : 'cut') : text, { headers })
  } catch (error) {
    answer.crash()
    throw error
  }
}

/** If less than this share of an answer is paid for, it is not delivered in full. Our counts are not exact enough for a larger share. */
const WHOLE_SHARE = 0.8

/** The paid share of an answer far above its output limit; undefined if all of it is sent, as nearly always. */
function paidShare({ counted, hold }: OpenCharge, charge: Charge): number | undefined {
  const tokens = counted?.tokens
  if (tokens === undefined || charge.kind === 'free') return undefined
  if (tokens <= beyondLimit(hold.size.bounds.outputTokens)) return undefined
  const share = charge.usage.output / tokens
  return share < WHOLE_SHARE ? share : undefined
}
