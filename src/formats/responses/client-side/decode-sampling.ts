/** Sampling parameters of a responses request in the words of the hub. */
import type { Sampling } from '@/chat/request'
import type { WireRequest } from './wire'

const LOGPROBS = 'message.output_text.logprobs'

/** How to choose among words. The format has no penalties, no seed and no stop sequences. */
export function decodeSampling(request: WireRequest): Sampling {
  const wantsLogprobs = request.include?.includes(LOGPROBS) ?? false
  return {
    temperature: request.temperature ?? undefined,
    topP: request.top_p ?? undefined,
    logprobs: wantsLogprobs || undefined,
    topLogprobs: wantsLogprobs ? (request.top_logprobs ?? undefined) : undefined,
  }
}
