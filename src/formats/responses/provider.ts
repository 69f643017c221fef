/** URLs of responses providers, and the quirks that a catalogue entry can set. */

import type { Endpoint } from '@/formats/format'
import { CACHE_KEY_QUIRK, MODEL_LIST } from '@/formats/openai'

export const QUIRKS = {
  /** If the caller sets no `prompt_cache_key`, send one per account, so that accounts share no cached prompts. */
  accountCacheKey: CACHE_KEY_QUIRK,
  /** The model does not think: omit `reasoning` and the request for encrypted reasoning, which it refuses. */
  noReasoning: 'no-reasoning',
  /** Omit temperature, top_p and log probabilities, which reasoning models refuse. */
  noSampling: 'no-sampling',
  /** `prompt_cache_breakpoint` is supported on parts; without this quirk it is omitted. */
  cacheBreakpoints: 'cache-breakpoints',
  /** If the choice is limited to some tools, send only these instead of `allowed_tools`. */
  noAllowedTools: 'no-allowed-tools',
  /** Omit `text.verbosity`. */
  noVerbosity: 'no-verbosity',
} as const

export const endpoint: Endpoint = {
  url: ({ baseUrl }) => `${baseUrl}/responses`,
  credential: { header: 'authorization', prefix: 'Bearer ' },
  headers: {},
  modelList: MODEL_LIST,
  hasServiceTiers: true,
  sandboxPath: '/v1',
}
