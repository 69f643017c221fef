/** Sampling parameters of a generate-content request in the words of the hub. */
import type { Sampling } from '@/chat/request'
import type { WireGenerationConfig } from './wire'

/** How to choose among words. */
export function decodeSampling(config: WireGenerationConfig): Sampling {
  const { temperature, topP, topK, frequencyPenalty, presencePenalty, seed } = config
  const { stopSequences, responseLogprobs, logprobs } = config
  return {
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(topK !== undefined && topK > 0 && { topK }),
    ...(frequencyPenalty !== undefined && { frequencyPenalty }),
    ...(presencePenalty !== undefined && { presencePenalty }),
    ...(seed !== undefined && { seed }),
    ...(stopSequences?.length && { stop: stopSequences }),
    ...(responseLogprobs !== undefined && { logprobs: responseLogprobs }),
    ...(logprobs !== undefined && { topLogprobs: logprobs }),
  }
}
