/** Relays a complete answer to a client who asked for one: settled first, so that its cost can be said in a header. */

import type { ChatResponse } from '@/chat/response'
import { type Answer, answerHeaders, completeAnswer } from '@/gateway/answer'
import type { JsonObject } from '@/lib/json'
import { formatUsd } from '@/lib/money'

/** What the provider sent, as read and as understood; `raw` is undefined where it streamed and we folded the stream. */
type CompleteAnswer = { response: ChatResponse; raw: { text: string; json: JsonObject } | undefined }

/** Settles and answers with JSON in the client's format; byte-faithful where provider and client speak the same. */
export async function relayJson(answer: Answer, complete: CompleteAnswer): Promise<Response> {
  const { call, providerFormat, meter, context } = answer
  // A folded stream was metered event by event while it was read.
  if (complete.raw) meter.observeResponse(complete.response)
  answer.signatures?.observeResponse(complete.response)
  const charge = await completeAnswer(answer)
  const text =
    complete.raw && providerFormat === call.format
      ? call.format.passThrough.response(complete.raw.text, complete.raw.json, context.model)
      : JSON.stringify(call.format.encodeResponse(complete.response, context))
  const headers = answerHeaders(answer)
  headers['content-type'] = 'application/json'
  if (charge.kind === 'charge') headers['x-svc-cost-usd'] = formatUsd(charge.cost)
  return new Response(text, { headers })
}
