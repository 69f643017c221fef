/** The use case of embeddings: plan, reserve, find the vectors of all inputs at one target, settle, tell. */

import type { EmbeddingDeps, EmbeddingRequestCall } from '@/gateway/embed/embedding-call'
import { negotiateEmbedding } from '@/gateway/embed/embedding-offer'
import { findVectors } from '@/gateway/embed/find-vectors'
import { tellVectors } from '@/gateway/embed/tell-vectors'
import { storeClosed } from '@/gateway/hold/denial'
import { withHold } from '@/gateway/hold/hold'

export type { EmbeddingDeps } from '@/gateway/embed/embedding-call'

/** Answers one request. Throws a GatewayError where there are no vectors; the hold is released before it does. */
export function handleEmbeddings(deps: EmbeddingDeps, call: EmbeddingRequestCall): Promise<Response> {
  if (deps.storeWatch.isClosedTo(call.payer.accountId)) throw storeClosed()
  const begin = () => negotiateEmbedding(deps, call)
  return withHold(deps, call, begin, async (hold, offer) => {
    const found = await findVectors(deps, call, hold, offer)
    return tellVectors(deps, call, offer, found)
  })
}
