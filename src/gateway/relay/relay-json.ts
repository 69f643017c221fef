/** Relays a complete answer to a client who asked for one: settled first, so that its cost can be said in a header. */
import type { CompleteAnswer } from '@/gateway/attempt/read-complete'
import { formatUsd } from '@/lib/money'
import { answerHeaders, type HeaderFacts } from './headers'
import type { RelayDeps } from './relay-stream'
import { completeAnswer, type RelayedAnswer } from './relayed'

/** Settles and answers with JSON in the client's format; byte-faithful where provider and client speak the same. */
export async function relayJson(
  deps: Pick<RelayDeps, 'clock' | 'logger' | 'metrics' | 'signatures'>,
  answer: RelayedAnswer,
  { response, raw }: CompleteAnswer,
  told: HeaderFacts,
): Promise<Response> {
  const { client, providerFormat, charge: open, context, hooks } = answer
  const { format } = client
  // A folded stream was metered event by event while it was read.
  if (raw) open.meter.observeResponse(response)
  answer.signatures?.observeResponse(response)
  const charge = await completeAnswer(deps, answer)
  const text =
    raw && providerFormat === format
      ? format.passThrough.response(raw.text, raw.json, context, hooks)
      : JSON.stringify(format.encodeResponse({ ...response, usage: hooks.charged() }, context))
  const headers = answerHeaders(deps, format, open, told)
  headers['content-type'] = 'application/json'
  if (charge.kind === 'charge') headers['x-svc-cost-usd'] = formatUsd(charge.cost)
  return new Response(text, { headers })
}
