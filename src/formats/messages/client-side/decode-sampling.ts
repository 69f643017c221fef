/** Sampling parameters of a messages request in the words of the hub. */
import type { Sampling } from '@/chat/request'
import type { WireRequest } from './wire'

/** How to choose among words. */
export function decodeSampling(wire: WireRequest): Sampling {
  return {
    temperature: wire.temperature,
    topP: wire.top_p,
    topK: wire.top_k,
    stop: wire.stop_sequences && wire.stop_sequences.length > 0 ? wire.stop_sequences : undefined,
  }
}
