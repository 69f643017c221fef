/** Sampling parameters of a chat-completions request in the words of the hub. */
import type { Sampling } from '@/chat/request'
import type { JsonObject } from '@/lib/json'
import type { WireRequest } from './wire'

/** How to choose among words. */
export function decodeSampling(request: WireRequest): Sampling {
  const stop = typeof request.stop === 'string' ? [request.stop] : request.stop
  return {
    temperature: request.temperature ?? undefined,
    topP: request.top_p ?? undefined,
    topK: decodeTopK(request as JsonObject),
    frequencyPenalty: request.frequency_penalty ?? undefined,
    presencePenalty: request.presence_penalty ?? undefined,
    seed: request.seed ?? undefined,
    stop: stop && stop.length > 0 ? stop : undefined,
    logprobs: request.logprobs ?? undefined,
    topLogprobs: request.top_logprobs ?? undefined,
  }
}

/** `top_k` where it is usable: no field of OpenAI's own, but many compatible services have it. */
export function decodeTopK(body: JsonObject): number | undefined {
  const value = body.top_k
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : undefined
}
