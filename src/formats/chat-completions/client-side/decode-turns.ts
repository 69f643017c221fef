import { markLastBlock } from '@/chat/cache-hints'
import { invalidRequest } from '@/chat/error'
import type { ChatRequest, ModelBlock, TextBlock, ToolCallBlock, ToolResultBlock, Turn } from '@/chat/request'
import { type ArgumentsRead, checkArguments } from '@/formats/arguments-text'
import { LIMITS } from '@/formats/chat-completions/limits'
import { decodeSignature } from '@/formats/chat-completions/signature'
import { decodeArguments } from '@/formats/chat-completions/tool-calls'
import { customArguments } from '@/formats/custom-tools'
import { resultOf } from '@/formats/openai'
import { decodeCacheControl, decodeContent, decodeTexts } from './decode-content'
import type { WireMessage, WireToolCall } from './wire'

/** Decodes messages: leading system messages become the system prompt, other messages turns. Throws if a required field is missing. */
export function decodeTurns(messages: WireMessage[]): Pick<ChatRequest, 'system' | 'turns' | 'hasSystemName'> {
  const system: TextBlock[] = []
  const turns: Turn[] = []
  const calls = createKnownCalls()
  let results: ToolResultBlock[] | undefined
  let hasSystemName: true | undefined
  let index = -1
  for (const message of messages) {
    const param = `messages[${++index}]`
    if (message.role === 'tool' || message.role === 'function') {
      const result = decodeResult(message, param, calls)
      if (results) results.push(result)
      else {
        results = [result]
        turns.push({ role: 'user', content: results })
      }
      continue
    }
    results = undefined
    if (message.role === 'assistant') turns.push(decodeAssistant(message, param, index, calls))
    else if (message.role === 'user') turns.push(decodeUser(message, param))
    else {
      const texts = decodeTexts(required(message.content, `${param}.content`), `${param}.content`)
      markLastBlock(texts, decodeCacheControl(message.cache_control))
      if (turns.length === 0) {
        system.push(...texts)
        if (message.name) hasSystemName = true
      } else turns.push({ role: 'system', content: texts, ...nameOf(message) })
    }
  }
  return { system, turns, ...(hasSystemName && { hasSystemName }) }
}

type KnownCalls = {
  /** Tool names by call id. */
  names: Map<string, string>
  /** The id that the gateway gave the last `function_call`: this deprecated form has no id on the wire. */
  lastFunctionCallId: string
  /** Total size of all calls' arguments so far. */
  argumentsRead: ArgumentsRead
}

function createKnownCalls(): KnownCalls {
  return { names: new Map(), lastFunctionCallId: '', argumentsRead: { chars: 0, values: 0 } }
}

function decodeUser(message: WireMessage, param: string): Turn {
  const content = decodeContent(required(message.content, `${param}.content`), `${param}.content`)
  markLastBlock(content, decodeCacheControl(message.cache_control))
  return { role: 'user', content, ...nameOf(message) }
}

function decodeAssistant(message: WireMessage, param: string, index: number, calls: KnownCalls): Turn {
  const content: ModelBlock[] = []
  const reasoning = message.reasoning_content ?? message.reasoning
  if (typeof reasoning === 'string' && reasoning !== '') content.push({ type: 'reasoning', text: reasoning })
  content.push(
    ...decodeContent(message.content, `${param}.content`),
    ...decodeContent(message.images, `${param}.images`),
  )
  if (message.refusal) content.push({ type: 'refusal', text: message.refusal })
  message.tool_calls?.forEach((call, position) => {
    content.push(decodeCall(call, `${param}.tool_calls[${position}]`, `call_${index}_${position}`, calls))
  })
  if (message.function_call) {
    const { name, arguments: argumentsText } = message.function_call
    calls.lastFunctionCallId = `call_${index}`
    const text = argumentsOf(argumentsText ?? '', `${param}.function_call`, calls)
    content.push({ type: 'tool-call', id: calls.lastFunctionCallId, name, argumentsText: text })
  }
  markLastBlock(content, decodeCacheControl(message.cache_control))
  for (const block of content) if (block.type === 'tool-call') calls.names.set(block.id, block.name)
  return { role: 'assistant', content, ...nameOf(message) }
}

function decodeCall(call: WireToolCall, param: string, fallbackId: string, calls: KnownCalls): ToolCallBlock {
  const id = call.id || fallbackId
  if (call.custom) {
    const argumentsText = customArguments(call.custom.input ?? '')
    return { type: 'tool-call', id, name: call.custom.name, argumentsText, isCustom: true }
  }
  if (!call.function) throw invalidRequest(`${param}.function is required`, `${param}.function`)
  const signature = decodeSignature(call.extra_content ?? undefined)
  const cache = decodeCacheControl(call.cache_control)
  return {
    type: 'tool-call',
    id,
    name: call.function.name,
    argumentsText: argumentsOf(decodeArguments(call.function.arguments), `${param}.function`, calls),
    ...(signature && { signature }),
    ...(cache && { cache }),
  }
}

function argumentsOf(text: string, param: string, { argumentsRead }: KnownCalls): string {
  return checkArguments(text, `${param}.arguments`, argumentsRead, LIMITS.argumentsChars)
}

function decodeResult(message: WireMessage, param: string, calls: KnownCalls): ToolResultBlock {
  const isFunction = message.role === 'function'
  const callId = isFunction ? calls.lastFunctionCallId : message.tool_call_id
  if (typeof callId !== 'string') throw invalidRequest(`${param}.tool_call_id is required`, `${param}.tool_call_id`)
  const name = message.name ?? calls.names.get(callId)
  const blocks = decodeContent(message.content, `${param}.content`)
  markLastBlock(blocks, decodeCacheControl(message.cache_control))
  return {
    type: 'tool-result',
    callId,
    ...(name && { name }),
    ...resultOf(blocks),
    isError: false,
  }
}

function required(content: WireMessage['content'], param: string): NonNullable<WireMessage['content']> {
  if (content === undefined || content === null) throw invalidRequest(`${param} is required`, param)
  return content
}

function nameOf(message: WireMessage): { name?: string } {
  return message.name ? { name: message.name } : {}
}
