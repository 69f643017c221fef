/** Finds what a request asks for that a format has no word for. */
import type { FormatName } from './format-name'
import type { BoundField, ChatRequest, ContentBlock, Feature, Warning } from './request'
import { extraTier } from './service-tier'

/** Those of `features`, which a format has no word for, that the request asks for, but one that this provider does take. */
export function lacking(request: ChatRequest, features: readonly Feature[], taken?: Feature): Warning[] {
  const inBlocks = askedInBlocks(request)
  const asked = features.filter((feature) => feature !== taken && (inBlocks.has(feature) || isAsked(request, feature)))
  return asked.map((feature) => lost(feature, 'the format has no word for it'))
}

/** Whether a field that constrains the answer reaches a provider of `format`, and what comes of it its caller. */
export function isCarried({ carriedBy }: BoundField, format: FormatName, stream: boolean): boolean {
  return !stream && carriedBy.has(format)
}

/** Says that what the request asks for is left out, and why. */
export function lost(feature: Feature, detail: string): Warning {
  return { feature, detail, isLost: true }
}

function isAsked({ sampling, ...request }: ChatRequest, feature: Feature): boolean {
  switch (feature) {
    case 'topK':
    case 'frequencyPenalty':
    case 'presencePenalty':
    case 'seed':
      return sampling[feature] !== undefined
    case 'verbosity':
    case 'userId':
    case 'cacheKey':
      return request[feature] !== undefined
    case 'serviceTier':
      // The standard service is no loss where a provider is not told so.
      return extraTier(request.serviceTier) !== undefined
    case 'parallelToolCalls':
      // A caller of deprecated functions did not ask for it.
      return request.parallelToolCalls === false && !request.wantsFunctionCall
    case 'strictTools':
      return request.tools.some(({ strict }) => strict === true)
    default:
      return false
  }
}

/** Features used inside the conversation, found by one walk. */
function askedInBlocks({ tools, system, turns }: ChatRequest): ReadonlySet<Feature> {
  const found = new Set<Feature>()
  if (tools.some(({ cache }) => cache) || system.some(({ cache }) => cache)) found.add('cacheHints')
  for (const { name, content } of turns) {
    if (name !== undefined) found.add('participants')
    noteBlocks(content, found)
  }
  return found
}

function noteBlocks(blocks: readonly ContentBlock[], found: Set<Feature>): void {
  for (const block of blocks) {
    if ('cache' in block && block.cache) found.add('cacheHints')
    if (block.type === 'image' && block.detail !== undefined) found.add('imageDetail')
    else if (block.type === 'file' && block.hasCitations) found.add('citations')
    else if (block.type === 'tool-result') noteBlocks(block.content, found)
  }
}
