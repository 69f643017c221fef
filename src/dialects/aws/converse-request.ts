/** Converts a messages request to Converse, Bedrock's common API for all models. */

import { invalidRequest } from '@/chat/error'
import { headerBetas } from '@/dialects/betas'
import type { DialectSettings } from '@/dialects/dialect'
import { FORMATS } from '@/formats/index'
import { addLosses } from '@/formats/nested-fields'
import { assert } from '@/lib/assert'
import { isJsonObject, type JsonObject } from '@/lib/json'
import { ContentWriter } from './converse-content'
import { tierFields } from './converse-tiers'
import { listOf, refuseAddresses } from './messages-body'

/** A document's title, which Converse supports. */
const TITLES = /^messages\.content\.(?:content\.)*title$/
/** Fields that are not omitted: other code converts them, or the URL expresses them. */
const SAID = [
  ...['messages', 'system', 'max_tokens', 'temperature', 'top_p', 'top_k', 'stop_sequences', 'tools', 'tool_choice'],
  ...['thinking', 'output_config', 'model', 'stream', 'anthropic_version'],
]

/** The Converse body for a model of `family`, and the omitted fields. Throws `invalid_request` if an omission changes the meaning. */
export function converseRequest(
  body: JsonObject,
  headers: Readonly<Record<string, string>>,
  settings: DialectSettings,
  family: string,
) {
  refuseAddresses(body)
  const leftOut = lostInside(body, family)
  const writer = new ContentWriter(leftOut)
  const passed: JsonObject = tierFields(body.service_tier)
  const hasTier = Object.keys(passed).length > 0
  for (const [field, value] of Object.entries(body)) {
    if (settings.passFields?.includes(field)) passed[field] = value
    else if (!SAID.includes(field) && !(hasTier && field === 'service_tier')) leftOut.push(field)
  }
  const messages = writer.turns(body.messages)
  const system = writer.system(body.system)
  const tools = writer.tools(body, messages)
  const extra = modelFields(body, family, headerBetas(headers), leftOut)
  const { format } = isJsonObject(body.output_config) ? body.output_config : {}
  return {
    body: {
      messages,
      ...(system.length > 0 && { system }),
      inferenceConfig: inferenceOf(body),
      ...(tools && { toolConfig: tools }),
      ...(Object.keys(extra).length > 0 && { additionalModelRequestFields: extra }),
      ...(isJsonObject(format) && { outputConfig: { textFormat: textFormatOf(format) } }),
      ...passed,
    },
    leftOut: [...new Set(leftOut)],
  }
}

function lostInside(body: JsonObject, family: string): string[] {
  const nested = FORMATS.get('messages')?.requestFields.nested
  assert(nested, 'messages is a format')
  const names = new Set<string>()
  addLosses(names, body, undefined, nested)
  for (const name of names)
    if (nested.losses.get(name)?.isBound) throw invalidRequest(`this model's provider can't take ${name}`, name)
  return [...names].filter((name) => !TITLES.test(name) && !(isClaude(family) && name.startsWith('thinking.')))
}

function inferenceOf({ max_tokens: maxTokens, temperature, top_p: topP, stop_sequences: stopSequences }: JsonObject) {
  return {
    ...(maxTokens !== undefined && { maxTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(Array.isArray(stopSequences) && stopSequences.length > 0 && { stopSequences }),
  }
}

/** Converse takes the schema as a JSON text. */
function textFormatOf({ schema, name, description }: JsonObject): JsonObject {
  const named = { ...(name !== undefined && { name }), ...(description !== undefined && { description }) }
  return { type: 'json_schema', structure: { jsonSchema: { schema: JSON.stringify(schema ?? {}), ...named } } }
}

/** For a body refused because of its reasoning signatures: the same body without reasoning. Undefined if it has none. */
export function withoutProofs(body: JsonObject): JsonObject | undefined {
  const isThought = (block: JsonObject) => block.reasoningContent !== undefined
  const messages = listOf(body.messages)
  if (!messages.some(({ content }) => listOf(content).some(isThought))) return undefined
  const left = messages.map(({ role = 'user', content }) => ({
    role,
    content: listOf(content).filter((block) => !isThought(block)),
  }))
  const { thinking: _, ...fields } = isJsonObject(body.additionalModelRequestFields)
    ? body.additionalModelRequestFields
    : {}
  const { additionalModelRequestFields: __, ...rest } = body
  return {
    ...rest,
    messages: left.filter(({ content }) => content.length > 0),
    ...(Object.keys(fields).length > 0 && { additionalModelRequestFields: fields }),
  }
}

/** Token budgets below these are a low or a medium effort, for models that take an effort. */
const LOW_BUDGET = 4096
const MEDIUM_BUDGET = 16_384
/** Efforts that all such models support; a higher effort is lowered to the highest of these. */
const EFFORTS: ReadonlySet<unknown> = new Set(['low', 'medium', 'high'])

const isClaude = (family: string) => /anthropic|claude/.test(family)

/** Vendor-specific fields of a model, chosen by the vendor's name in `model`. Settings without a field are added to `leftOut`. */
function modelFields(body: JsonObject, model: string, betas: readonly string[], leftOut: string[]): JsonObject {
  const { top_k: topK, thinking, output_config: config } = body
  const effort = isJsonObject(config) ? config.effort : undefined
  const isThinking = isJsonObject(thinking) && thinking.type !== 'disabled'
  if (isClaude(model)) {
    return {
      ...(topK !== undefined && { top_k: topK }),
      ...(thinking !== undefined && { thinking }),
      ...(effort !== undefined && { output_config: { effort } }),
      ...(betas.length > 0 && { anthropic_beta: [...betas] }),
    }
  }
  if (betas.length > 0) leftOut.push('anthropic-beta')
  if (topK !== undefined) leftOut.push('top_k')
  const word = isThinking || effort !== undefined ? effortOf(thinking, effort) : undefined
  if (word === undefined) return {}
  if (/amazon\.nova-2/.test(model)) return { reasoningConfig: { type: 'enabled', maxReasoningEffort: word } }
  if (/openai\.|deepseek\.v3/.test(model)) return { reasoning_effort: word }
  leftOut.push(isThinking ? 'thinking' : 'output_config.effort')
  return {}
}

function effortOf(thinking: unknown, effort: unknown): string {
  if (EFFORTS.has(effort)) return String(effort)
  if (effort !== undefined) return 'high'
  const budget = isJsonObject(thinking as JsonObject) ? (thinking as JsonObject).budget_tokens : undefined
  if (typeof budget !== 'number') return 'medium'
  if (budget < LOW_BUDGET) return 'low'
  return budget < MEDIUM_BUDGET ? 'medium' : 'high'
}
