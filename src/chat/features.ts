/** Finds features of a request that a format doesn't have. */
import type { FormatName } from './format-name'
import type { BoundField, ChatRequest, ContentBlock, Feature, Warning } from './request'
import { extraTier } from './service-tier'

/** Warnings for the requested ones of `features`, all of which the format lacks. This provider accepts `taken` anyway. */
export function lacking(request: ChatRequest, features: readonly Feature[], taken?: Feature): Warning[] {
  const inBlocks = askedInBlocks(request)
  const asked = features.filter((feature) => feature !== taken && (inBlocks.has(feature) || isAsked(request, feature)))
  return asked.map((feature) => lost(feature, 'the format has no word for it'))
}

/** Whether providers of `format` can apply this field, which constrains the answer. */
export function isCarried({ carriedBy, inStreams }: BoundField, format: FormatName, stream: boolean): boolean {
  return (inStreams || !stream) && carriedBy.has(format)
}

/** A warning that a requested feature is omitted, with the reason. */
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
      // Omitting the standard tier changes nothing.
      return extraTier(request.serviceTier) !== undefined
    case 'parallelToolCalls':
      // Callers of deprecated functions don't set this field; the decoder does.
      return request.parallelToolCalls === false && !request.wantsFunctionCall
    case 'strictTools':
      return request.tools.some(({ strict }) => strict === true)
    default:
      return false
  }
}

/** Features used inside the conversation, found in one pass. */
function askedInBlocks({ tools, system, turns, hasSystemName }: ChatRequest): ReadonlySet<Feature> {
  const found = new Set<Feature>()
  if (tools.some(({ cache }) => cache) || system.some(({ cache }) => cache)) found.add('cacheHints')
  if (hasSystemName) found.add('participants')
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
