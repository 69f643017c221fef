/** Handles a request that is no conversation, such as speech: plan, reserve, call one target after another, settle, answer. */
import { storeClosed } from '@/gateway/hold/denial'
import { withHold } from '@/gateway/hold/hold'
import { raceMedia } from '@/gateway/media/media-attempts'
import type { MediaDeps, MediaRequestCall } from '@/gateway/media/media-call'
import { MediaNegotiation } from '@/gateway/media/media-offer'
import { tellMedia } from '@/gateway/media/tell-media'

export type { MediaDeps } from '@/gateway/media/media-call'

/** Answers one request. If no target answers, releases the hold and throws a GatewayError. */
export async function handleMedia(deps: MediaDeps, call: MediaRequestCall): Promise<Response> {
  if (deps.storeWatch.isClosedTo(call.payer.accountId)) throw storeClosed()
  return withHold(deps, call, new MediaNegotiation(deps, call), async (hold, offer) =>
    tellMedia(deps, call, await raceMedia(deps, call, hold, offer)),
  )
}
