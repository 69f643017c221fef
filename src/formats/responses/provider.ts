/** The paths of responses providers, and the quirks that the catalogue can set for encoder and pass-through. */

import type { Endpoint } from '@/formats/format'
import { CACHE_KEY_QUIRK } from '@/formats/openai'

/** What the responses encoder and pass-through can do differently for a provider; the catalogue names them. */
export const QUIRKS = {
  /** Keep callers' cached prompts apart by a `prompt_cache_key` of their account where they name none. */
  accountCacheKey: CACHE_KEY_QUIRK,
  /** The model does not think: leave `reasoning` out, and don't ask for encrypted reasoning, which it refuses. */
  noReasoning: 'no-reasoning',
  /** Leave temperature, top_p and log probabilities out, which reasoning models refuse. */
  noSampling: 'no-sampling',
  /** `prompt_cache_breakpoint` on parts is understood; elsewhere it is left out. */
  cacheBreakpoints: 'cache-breakpoints',
  /** Restrict the tools themselves where the choice is limited to some, instead of sending `allowed_tools`. */
  noAllowedTools: 'no-allowed-tools',
  /** Leave `text.verbosity` out. */
  noVerbosity: 'no-verbosity',
} as const

/** Where responses providers are called, and with which credential. */
export const endpoint: Endpoint = {
  url: ({ baseUrl }) => `${baseUrl}/responses`,
  credential: { header: 'authorization', prefix: 'Bearer ' },
  headers: {},
  hasServiceTiers: true,
  sandboxPath: '/v1',
}
