/** Handles an embeddings request: plan, reserve, get the vectors of all inputs from one target, settle, answer. */

import type { Room } from '@/gateway/embed/answer-room'
import { raceEmbeddings } from '@/gateway/embed/embedding-attempts'
import type { EmbeddingDeps, EmbeddingRequestCall } from '@/gateway/embed/embedding-call'
import { EmbeddingNegotiation } from '@/gateway/embed/embedding-offer'
import { tellVectors } from '@/gateway/embed/tell-vectors'
import { storeClosed } from '@/gateway/hold/denial'
import { withHold } from '@/gateway/hold/hold'

export type { EmbeddingDeps } from '@/gateway/embed/embedding-call'

/** Answers one request. If there are no vectors, releases the hold and throws a GatewayError. */
export async function handleEmbeddings(deps: EmbeddingDeps, call: EmbeddingRequestCall): Promise<Response> {
  const { payer, request } = call
  if (deps.storeWatch.isClosedTo(payer.accountId)) throw storeClosed()
  const room = await deps.answerRoom(payer.accountId, request)
  try {
    return await answerIn(room, deps, call)
  } catch (error) {
    room?.release()
    throw error
  }
}

function answerIn(room: Room, deps: EmbeddingDeps, call: EmbeddingRequestCall): Promise<Response> {
  return withHold(deps, call, new EmbeddingNegotiation(deps, call), async (hold, offer) =>
    tellVectors(deps, call, offer, await raceEmbeddings(deps, call, hold, offer), room),
  )
}
