/** Changes to bodies if caller and provider both use responses. Items keep their provider's ids; the answer gets the gateway's id. */
import type { ChatRequest } from '@/chat/request'
import { leftOutFields, relayedFields } from '@/formats/body-fields'
import type { AnswerContext, PassHooks, PassingStream, PassThrough, TargetTraits } from '@/formats/format'
import { leaveOutInside } from '@/formats/nested-fields'
import { cacheKeyOf } from '@/formats/openai'
import { ROUTING_FIELDS } from '@/formats/routing-fields'
import { isJsonObject, type JsonObject, type JsonValue, textOf } from '@/lib/json'
import { rememberNumbers } from '@/lib/json-source/as-written'
import { editJson } from '@/lib/json-splice'
import { BODY_FIELDS, NESTED_FIELDS } from './body-fields'
import { LAST_EVENTS } from './events'
import { QUIRKS } from './provider'
import { repairAnswer } from './repair'
import { StreamRepair } from './repair-stream'
import { restoreSignatures } from './restore-signatures'
import { limitToolCalls } from './server-tools'

export const passThrough: PassThrough = {
  request: passRequest,
  response: passResponse,
  createStream,
  namesAnswer: true,
}

const NOT_PASSED_ON = [
  'fallback',
  'svc',
  'fallbacks',
  ...ROUTING_FIELDS,
  'previous_response_id',
  'conversation',
  'background',
  'client_metadata',
] as const
const SAMPLING_FIELDS = ['temperature', 'top_p', 'top_logprobs'] as const
const ENCRYPTED = 'reasoning.encrypted_content'

/**
 * The caller's own body for the upstream. Providers store nothing, so each answer must contain its reasoning encrypted. Never changes
 * `body`; shares unchanged parts. Uses the quirks `noReasoning`, `noSampling` and `noVerbosity`.
 */
function passRequest(body: JsonObject, decoded: ChatRequest, traits: TargetTraits): JsonObject {
  const { quirks } = traits
  const own: JsonObject = { ...relayedFields(body, BODY_FIELDS), model: traits.model, store: false }
  for (const field of NOT_PASSED_ON) if (own[field] !== undefined) delete own[field]
  const leftOut = leftOutFields(decoded, traits)
  for (const field of leftOut) delete own[field]
  if (leftOut.length > 0) leaveOutInside(own, leftOut, NESTED_FIELDS)
  if (quirks.has(QUIRKS.noSampling)) for (const field of SAMPLING_FIELDS) delete own[field]
  if (quirks.has(QUIRKS.noReasoning)) delete own.reasoning
  if (quirks.has(QUIRKS.noVerbosity)) leaveOutVerbosity(own)
  own.include = includeFor(own.include, quirks)
  if (traits.untakenTools?.size) leaveOutTools(own, traits.untakenTools)
  const cacheKey = cacheKeyOf(traits, decoded.cacheKey)
  if (cacheKey !== undefined) own.prompt_cache_key = cacheKey
  own.input = restoreSignatures(own.input)
  if (decoded.maxOutputTokens !== undefined && decoded.maxOutputTokens !== own.max_output_tokens) {
    own.max_output_tokens = decoded.maxOutputTokens
  }
  const calls = traits.toolLimits && limitToolCalls(own.max_tool_calls, traits.toolLimits)
  if (calls !== undefined) own.max_tool_calls = calls
  return own
}

/** Removes tools from the request's list and from items that add tools. */
function leaveOutTools(own: JsonObject, untaken: ReadonlySet<string>): void {
  own.tools = withoutTools(own.tools, 'tools', untaken)
  if (!Array.isArray(own.input)) return
  own.input = own.input.map((item, index) => {
    if (!isJsonObject(item) || item.type !== 'additional_tools') return item
    return { ...item, tools: withoutTools(item.tools, `input[${index}].tools`, untaken) }
  })
}

function withoutTools(tools: JsonValue | undefined, path: string, untaken: ReadonlySet<string>): JsonValue | undefined {
  return Array.isArray(tools) ? tools.filter((_, index) => !untaken.has(`${path}[${index}]`)) : tools
}

function leaveOutVerbosity(own: JsonObject): void {
  if (!isJsonObject(own.text)) return
  const { verbosity: _, ...rest } = own.text
  own.text = rest
}

function includeFor(asked: JsonValue | undefined, quirks: ReadonlySet<string>): JsonValue[] {
  const wanted = Array.isArray(asked) ? asked : []
  if (quirks.has(QUIRKS.noReasoning)) return wanted.filter((name) => name !== ENCRYPTED)
  return wanted.includes(ENCRYPTED) ? wanted : [...wanted, ENCRYPTED]
}

const OBJECT_ARGUMENTS = /"arguments"\s*:\s*\{/

function passResponse(text: string, json: JsonObject, context: AnswerContext, hooks: PassHooks): string {
  // Arguments sent as an object must become a text without changing their numbers.
  if (OBJECT_ARGUMENTS.test(text)) rememberNumbers(json, text)
  return editJson(text, repairAnswer(json, context, hooks))
}

function createStream(context: AnswerContext, hooks: PassHooks): PassingStream {
  const repair = new StreamRepair(context, hooks)
  return {
    nameOf: (json) => (isJsonObject(json) ? textOf(json.type) : undefined),
    before: (json) => (isJsonObject(json) ? repair.missing(json) : []),
    event(data, json) {
      if (!isJsonObject(json) || repair.isHidden(json)) return undefined
      if (OBJECT_ARGUMENTS.test(data)) rememberNumbers(json, data)
      const edits = repair.repair(json)
      return edits.length > 0 ? editJson(data, edits) : data
    },
    closesWithUsage: (json) => isJsonObject(json) && LAST_EVENTS.has(textOf(json.type) ?? ''),
    ending: () => [],
  }
}
