/** Settles an embeddings request and answers the client. The cost is known before the first byte, because all vectors have arrived. */
import { countInputs, estimateInput } from '@/catalog/embedding-size'
import type { EmbeddingAnswer } from '@/chat/embedding'
import { inputTokens, type Usage, ZERO_USAGE } from '@/chat/usage'
import { leftOutFields } from '@/formats/body-fields'
import type { Winner } from '@/gateway/attempt/race-attempts'
import { settle } from '@/gateway/charge/settle'
import { answerHeaders } from '@/gateway/relay/headers'
import { CLIENT_CLOSED_STATUS } from '@/ledger/usage-record'
import { assert } from '@/lib/assert'
import { withDeadline } from '@/lib/deadline'
import { formatUsd } from '@/lib/money'
import type { Permit } from '@/routing/failover/permit'
import type { Room } from './answer-room'
import type { EmbeddingDeps, EmbeddingRequestCall } from './embedding-call'
import type { EmbeddingOffer } from './embedding-offer'
import { responseBody } from './response-body'

/** The answers of all calls to the target; if the client disconnected or another attempt won, the answers so far. */
export type Embedded = {
  kind: 'embedded' | 'abandoned'
  answers: readonly EmbeddingAnswer[]
  /** Number of answered inputs; if none was answered, number of requested inputs. */
  inputs: number
  isUnreached?: true
}

/** How long a settlement waits for a count. */
const COUNT_PATIENCE_MS = 2_000

export async function tellVectors(
  deps: EmbeddingDeps,
  call: EmbeddingRequestCall,
  { plan }: EmbeddingOffer,
  { attempt, started: embedded, upstreamMs }: Winner<Embedded>,
  room: Room,
): Promise<Response> {
  const { permit, charge: open } = attempt
  const { answers } = embedded
  permit.ended(false)
  call.onEnd()
  const usage = usageOf(answers)
  if (usage) open.meter.observe({ type: 'usage', usage })
  if (embedded.kind === 'abandoned') {
    open.countedInput = call.request.inputs.slice(0, embedded.inputs).reduce((sum, one) => sum + estimateInput(one), 0)
    if (embedded.isUnreached) open.isUnreached = true
    const ending = answers.length > 0 ? 'disconnected' : 'unanswered'
    await settle(deps, open, ending)
    room?.release()
    return new Response(null, { status: CLIENT_CLOSED_STATUS })
  }
  if (!usage) open.countedInput = await withDeadline(countInputs(plan.sizes), COUNT_PATIENCE_MS, () => undefined)
  const charge = await settle(deps, open, 'complete')
  assert(charge.kind === 'charge', 'vectors are never free')
  const headers = answerHeaders(deps, call.format, open, {
    upstreamMs,
    loweredCap: undefined,
    leftOut: leftOutOf(call, permit),
  })
  headers['content-type'] = 'application/json'
  headers['x-svc-cost-usd'] = formatUsd(charge.cost)
  const told = { request: call.request, model: open.facts.model, inputTokens: inputTokens(charge.usage) }
  const pieces = call.embeddings.encodeResponse(whole(answers), told)
  return new Response(
    responseBody(pieces, call.signal, () => room?.release()),
    { headers },
  )
}

function usageOf(answers: readonly EmbeddingAnswer[]): Usage | undefined {
  let tokens = 0
  for (const { usage } of answers) {
    if (!usage) return undefined
    tokens += usage.uncached
  }
  return tokens > 0 && Number.isSafeInteger(tokens) ? { ...ZERO_USAGE, uncached: tokens } : undefined
}

function whole(answers: readonly EmbeddingAnswer[]): EmbeddingAnswer {
  const [first] = answers
  assert(first, 'there is an input, and so a call')
  if (answers.length === 1) return first
  return { vectors: answers.flatMap((answer) => ('vectors' in answer ? answer.vectors : [])), usage: null }
}

function leftOutOf({ request, format }: EmbeddingRequestCall, { planned }: Permit): readonly string[] {
  const { provider, quirks } = planned.target
  if (provider.format !== format.name) return [...request.nativeFields, ...(request.unlisted ?? [])]
  return leftOutFields(request, { quirks, passFields: provider.passFields })
}
