/** The requirements of a request, and the reasons why a given model cannot serve it: the filter before every plan. */
import { measurePrompt, type Prompt } from '@/catalog/estimate'
import type { Capability, Model } from '@/catalog/types'
import type { ChatRequest, ContentBlock, FileBlock, Reasoning } from '@/chat/request'
import { UNPRICED_EXTRAS } from '@/formats/body-fields'

/** `inputTokens` is an estimate. `outputTokens` is the caller's limit of output per choice, if any. */
export type Requirements = {
  capabilities: ReadonlySet<Capability>
  prompt: Prompt
  inputTokens: number
  outputTokens: number | undefined
  /** Set if the answer must contain pictures. */
  pictures?: true
}

type Requirement =
  | Capability
  | 'pictures'
  | 'context-length'
  | 'max-output'
  | 'format'
  | 'server-tools'
  | 'service-tier'
  | 'lossless'
  | 'permission'
  | 'quality'
  | 'max-price'
  | 'providers'
  | 'data'

/**
 * One requirement that a model does not meet, with a text for the caller. If `firm`, the model cannot answer. Otherwise it is likely to
 * fail, or only a preference: another model goes first, but the request is not refused.
 */
export type Unmet = {
  requirement: Requirement
  isFirm: boolean
  detail: string
  /** The field of the request that requires it, for a rule of where content may go. */
  field?: string | undefined
}

export type PassedOver = { model: Model; unmet: Unmet[] }

/** The estimate may be too high by this factor; the provider's exact count decides close cases. */
export const ESTIMATE_TOLERANCE = 0.8

const NAME_OF: Record<Capability, string> = {
  tools: 'tools',
  images: 'images',
  files: 'files',
  audio: 'audio',
  reasoning: 'reasoning',
  'json-schema': 'answers that follow a JSON schema',
}

/** Capabilities without which a model would refuse the request or ignore a part. */
const FIRM: ReadonlySet<Capability> = new Set(['tools', 'images', 'json-schema'])

/** Reads the requirements of `request`. Linear in its size. Throws `invalid_request` for content of unknown size. */
export function readRequirements(request: ChatRequest): Requirements {
  const capabilities = new Set<Capability>()
  if (request.tools.length > 0) capabilities.add('tools')
  if (request.output.type === 'json-schema') capabilities.add('json-schema')
  if (wantsReasoning(request.reasoning)) capabilities.add('reasoning')
  for (const turn of request.turns) for (const block of turn.content) addNeed(block, capabilities)
  const prompt = measurePrompt(request)
  const { maxOutputTokens: outputTokens, pictures } = request
  const requirements: Requirements = { capabilities, prompt, inputTokens: prompt.estimatedTokens, outputTokens }
  if (pictures) requirements.pictures = true
  return requirements
}

/** Every requirement that `model` does not meet; empty if it can serve the request. */
export function ruledOut(model: Model, requirements: Requirements): Unmet[] {
  const unmet: Unmet[] = []
  for (const capability of requirements.capabilities) {
    if (model.capabilities.has(capability)) continue
    const detail = `does not support ${NAME_OF[capability]}`
    unmet.push({ requirement: capability, isFirm: FIRM.has(capability), detail })
  }
  const { inputTokens, outputTokens, pictures } = requirements
  if (pictures && !sellsPictures(model)) {
    unmet.push({ requirement: 'pictures', isFirm: true, detail: 'has no price for pictures in its answers' })
  }
  if (outputTokens !== undefined && outputTokens > model.maxOutputTokens) {
    const detail = `writes at most ${model.maxOutputTokens} output tokens, not ${outputTokens}`
    unmet.push({ requirement: 'max-output', isFirm: false, detail })
  }
  // An output limit above the model's own is reported as another requirement, so it doesn't count here.
  const output = Math.min(outputTokens ?? 0, model.maxOutputTokens)
  if (Math.floor(inputTokens * ESTIMATE_TOLERANCE) + output > model.contextLength) {
    const detail = `has a context of ${model.contextLength} tokens; the request needs about ${inputTokens + output}`
    unmet.push({ requirement: 'context-length', isFirm: true, detail })
  }
  return unmet
}

/** Whether the model's pictures have a price, or the operator bears their cost. */
function sellsPictures({ pricing: { lines = [] }, targets }: Model): boolean {
  const isSold = lines.some(({ billable }) => billable === 'output_image')
  return isSold || targets.every(({ quirks }) => quirks.has(UNPRICED_EXTRAS))
}

/** Whether the caller requested reasoning, neither leaving it unset nor disabling it. */
export function wantsReasoning(reasoning: Reasoning | undefined): boolean {
  if (!reasoning) return false
  const { effort, budgetTokens } = reasoning
  if (effort !== undefined) return effort !== 'none' && effort !== 'minimal'
  return budgetTokens !== undefined && budgetTokens !== 0
}

function addNeed(block: ContentBlock, capabilities: Set<Capability>): void {
  switch (block.type) {
    case 'image':
      capabilities.add('images')
      return
    case 'audio':
      capabilities.add('audio')
      return
    case 'file': {
      const need = fileNeed(block)
      if (need) capabilities.add(need)
      return
    }
    case 'tool-call':
      capabilities.add('tools')
      return
    case 'tool-result':
      capabilities.add('tools')
      for (const part of block.content) addNeed(part, capabilities)
      return
    default:
      return
  }
}

/** The capability that a file needs; none for a text file, which every model reads as text. */
function fileNeed({ source }: FileBlock): Capability | undefined {
  if (source.type === 'text') return undefined
  const kind = 'mediaType' in source ? source.mediaType?.split('/')[0] : undefined
  if (kind === 'image') return 'images'
  return kind === 'audio' ? 'audio' : 'files'
}
