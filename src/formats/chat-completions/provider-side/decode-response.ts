import type { ToolCallBlock } from '@/chat/request'
import type { AnswerBlock, ChatResponse, Choice } from '@/chat/response'
import { serviceTierOf } from '@/chat/service-tier'
import { decodeContent } from '@/formats/chat-completions/answer-content'
import { decodeFinishReason } from '@/formats/chat-completions/finish-reason'
import { decodeToolUses } from '@/formats/chat-completions/server-tools'
import { decodeSignature } from '@/formats/chat-completions/signature'
import { decodeArguments } from '@/formats/chat-completions/tool-calls'
import { decodeUsage, findUnknownUsage, findUsage, readStatedCost } from '@/formats/chat-completions/usage'
import { customArguments } from '@/formats/custom-tools'
import { decodeAnnotations } from '@/formats/url-citations'
import { randomId } from '@/lib/ids'
import { isJsonObject, type JsonObject, type JsonValue, textOf } from '@/lib/json'

/** Decodes a complete chat-completions answer; undefined for another shape, an error in a 200, or an answer without choices. */
export function decodeResponse(body: JsonValue): ChatResponse | undefined {
  if (!isJsonObject(body) || body.error || !Array.isArray(body.choices)) return undefined
  const choices: Choice[] = []
  for (let position = 0; position < body.choices.length; position++) {
    const decoded = decodeChoice(body.choices[position], position)
    if (decoded) choices.push(decoded)
  }
  if (choices.length === 0) return undefined
  const usage = findUsage(body)
  const response: ChatResponse = {
    id: textOf(body.id) ?? '',
    created: typeof body.created === 'number' && Number.isSafeInteger(body.created) ? Math.max(0, body.created) : 0,
    model: textOf(body.model) ?? '',
    choices,
    usage: decodeUsage(usage) ?? null,
  }
  const unknownUsage = findUnknownUsage(usage)
  if (unknownUsage) response.unknownUsage = unknownUsage
  const statedCost = readStatedCost(usage)
  if (statedCost !== undefined) response.statedCost = statedCost
  const serviceTier = serviceTierOf(body.service_tier)
  if (serviceTier !== undefined) response.serviceTier = serviceTier
  const toolUses = decodeToolUses(usage)
  if (toolUses) response.toolUses = toolUses
  return response
}

function decodeChoice(choice: JsonValue | undefined, position: number): Choice | undefined {
  if (!isJsonObject(choice) || !isJsonObject(choice.message)) return undefined
  const content: AnswerBlock[] = decodeContent(choice.message)
  const sources = decodeAnnotations(choice.message.annotations)
  const text = sources.length > 0 ? content.findLast((block) => block.type === 'text') : undefined
  if (text) text.sources = sources
  for (const call of decodeCalls(choice.message)) content.push(call)
  const emitted = { hasToolCalls: false, hasRefusal: false }
  for (const { type } of content) {
    if (type === 'tool-call') emitted.hasToolCalls = true
    else if (type === 'refusal') emitted.hasRefusal = true
  }
  const word = textOf(choice.finish_reason) ?? ''
  const { index, logprobs } = choice
  const decoded: Choice = {
    index: typeof index === 'number' && Number.isSafeInteger(index) && index >= 0 ? index : position,
    content,
    finish: decodeFinishReason(word === '' ? undefined : word, emitted),
  }
  if (logprobs !== undefined && logprobs !== null) decoded.logprobs = logprobs
  return decoded
}

const NO_CALLS: readonly ToolCallBlock[] = []

function decodeCalls(message: JsonObject): readonly ToolCallBlock[] {
  if (!message.tool_calls && !message.function_call) return NO_CALLS
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls : []
  const legacy = isJsonObject(message.function_call) ? [{ function: message.function_call }] : []
  return [...calls, ...legacy].flatMap(decodeCall)
}

/** A call without a name is omitted, since nobody could answer it. */
function decodeCall(call: JsonValue | undefined): ToolCallBlock[] {
  if (!isJsonObject(call)) return []
  const target = isJsonObject(call.custom) ? call.custom : call.function
  if (!isJsonObject(target) || typeof target.name !== 'string' || target.name === '') return []
  const signature = decodeSignature(call.extra_content)
  return [
    {
      type: 'tool-call',
      id: textOf(call.id) || randomId('call'),
      name: target.name,
      argumentsText: isJsonObject(call.custom)
        ? customArguments(textOf(call.custom.input) ?? '')
        : decodeArguments(target.arguments),
      ...(signature && { signature }),
    },
  ]
}
