/** A request of the hub as a generate-content request, for callers of the other formats. */

import { invalidRequest } from '@/chat/error'
import { lacking } from '@/chat/features'
import type { ChatRequest, TextBlock, Warning } from '@/chat/request'
import { isClientMark } from '@/formats/client-marks'
import type { EncodedRequest, TargetTraits } from '@/formats/format'
import { LACKING } from '@/formats/generate-content/body-fields'
import { LIMITS } from '@/formats/generate-content/limits'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import { encodeOutput } from './encode-output'
import { encodeReasoning } from './encode-reasoning'
import { encodeSampling } from './encode-sampling'
import { encodeToolChoice, encodeTools } from './encode-tools'
import { encodeTurns } from './encode-turns'

/** Reads the quirks of `quirks.ts`. Throws `invalid_request` where leaving out would change the meaning. */
export function encodeRequest(request: ChatRequest, traits: TargetTraits): EncodedRequest {
  const [native] = request.nativeOnly ?? []
  if (native !== undefined)
    throw invalidRequest(`the provider of this model can't take ${native}`, native.split(' ')[0])
  const warnings = lacking(request, LACKING)
  const system = request.system.filter(({ text }) => text !== '' && !isClientMark(text))
  const contents = encodeTurns(request.turns, traits, warnings)
  const { generationConfig: ownConfig, tools: _, ...ownFields } = request.extensions['generate-content'] ?? {}
  refuseImpossibleCall(request)
  const tools = encodeTools(request.tools, traits)
  const toolConfig = tools && encodeToolChoice(request.toolChoice)
  const generationConfig = {
    ...(isJsonObject(ownConfig) && ownConfig),
    ...encodeGenerationConfig(request, traits, warnings),
  }
  const isSystemAll = contents.length === 0
  const body = {
    ...ownFields,
    contents: isSystemAll ? [{ role: 'user', parts: encodeTexts(system) }] : contents,
    ...(system.length > 0 && !isSystemAll && { systemInstruction: { parts: encodeTexts(system) } }),
    ...(tools && { tools }),
    ...(toolConfig && { toolConfig }),
    ...(Object.keys(generationConfig).length > 0 && { generationConfig }),
  }
  if (isSystemAll && system.length === 0) throw invalidRequest('the conversation must hold some content', 'messages')
  return { body, warnings }
}

/** Dropped, the demand would let the model answer in words where the caller wants a call. */
function refuseImpossibleCall({ tools, toolChoice }: ChatRequest): void {
  const isForced = toolChoice?.type === 'required' || toolChoice?.type === 'tool'
  if (isForced && tools.length === 0) throw invalidRequest('A tool call is required, but the request has no tools')
}

function encodeTexts(blocks: readonly TextBlock[]): JsonValue[] {
  return blocks.map(({ text }) => ({ text }))
}

function encodeGenerationConfig(request: ChatRequest, traits: TargetTraits, warnings: Warning[]): JsonObject {
  if (request.choices > LIMITS.candidates.maximum) {
    throw invalidRequest(`the provider of this model gives at most ${LIMITS.candidates.maximum} answers at once`, 'n')
  }
  const thinkingConfig = encodeReasoning(request.reasoning, traits, warnings)
  const limit = request.maxOutputTokens
  return {
    ...encodeSampling(request, warnings),
    ...(request.choices > 1 && { candidateCount: request.choices }),
    ...(limit !== undefined && { maxOutputTokens: Math.min(limit, traits.maxOutputTokens) }),
    ...encodeOutput(request.output, traits),
    ...(thinkingConfig && { thinkingConfig }),
  }
}
