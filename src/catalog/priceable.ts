/** Refuses what the prices of the catalogue do not cover: fees per use, dearer service, and input of unknown size. */
import { invalidRequest } from '@/chat/error'
import type { ChatRequest } from '@/chat/request'
import { isJsonObject, type JsonValue } from '@/lib/json'
import type { Model } from './types'

/** The quirk of a provider whose extra charges the operator bears: nothing is refused there. */
const UNPRICED_EXTRAS_QUIRK = 'unpriced-extras'

/** Ways of service that cost the catalogue's price or less. Faster ones cost a multiple that usage does not show. */
const PRICED_SERVICE = new Set(['auto', 'default', 'standard', 'standard_only', 'flex', 'unspecified'])

/** Fields that add a fee, or input that the gateway can't see, as soon as they hold anything. */
const UNPRICED_FIELDS = new Set([
  'web_search_options',
  'previous_response_id',
  'mcp_servers',
  'container',
  'cachedContent',
  'cached_content',
  'continuationToken',
  'continuation_token',
])
/** Values of a field that cost no more than leaving it out. */
const PRICED_VALUES: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['speed', new Set(['standard'])],
  ['inference_geo', new Set(['global', 'not_available'])],
])

/** Tools that a provider knows by their type, but that the caller runs: they cost tokens and nothing else. */
const CALLER_RUN_TOOL =
  /^(function|custom|bash|text_editor|memory|computer|computerUse|computer_use|browser|tool_search)(_|$)/
/** Blocks that name content which is not in the request. */
const UNSEEN_BLOCK = /upload|file/
/** How `nativeOnly` writes a thing: the field, and what it is where the field alone does not say. */
const NATIVE = /^([^\s(]+)(?: \((.*)\))?$/

/**
 * Throws a GatewayError `invalid_request` that names the first field of `request` which could cost more than its tokens.
 * Nothing is refused if all that may answer, the targets of `models`, carry {@link UNPRICED_EXTRAS_QUIRK}.
 */
export function refuseUnpriceable(request: ChatRequest, models: readonly Model[] = []): void {
  const targets = models.flatMap((model) => model.targets)
  if (targets.length > 0 && targets.every((target) => target.quirks.has(UNPRICED_EXTRAS_QUIRK))) return
  const { serviceTier } = request
  if (serviceTier !== undefined && !PRICED_SERVICE.has(serviceTier.toLowerCase())) refuse('service_tier')
  for (const native of request.nativeOnly ?? []) checkNative(native)
  for (const fields of Object.values(request.extensions)) {
    for (const [name, value] of Object.entries<JsonValue | undefined>(fields ?? {})) checkField(name, value)
  }
}

function checkNative(native: string): void {
  const [, field = native, kind = ''] = NATIVE.exec(native) ?? []
  if (UNPRICED_FIELDS.has(field) || PRICED_VALUES.has(field)) refuse(field)
  if (field.startsWith('tools[') && !CALLER_RUN_TOOL.test(kind)) refuse(field)
  if (UNSEEN_BLOCK.test(kind)) refuse(field)
}

function checkField(name: string, value: JsonValue | undefined): void {
  if (isNothing(value)) return
  if (UNPRICED_FIELDS.has(name)) refuse(name)
  const priced = PRICED_VALUES.get(name)
  if (priced && !(typeof value === 'string' && priced.has(value))) refuse(name)
  if (name === 'modalities' && Array.isArray(value) && value.includes('audio')) refuse(name)
  if (name === 'tools' && Array.isArray(value)) for (const [index, tool] of value.entries()) checkTool(tool, index)
}

function isNothing(value: JsonValue | undefined): boolean {
  return (
    value === undefined || value === null || value === false || value === '' || (Array.isArray(value) && !value.length)
  )
}

/** A tool is told by its `type`, or in generate-content by the name of its only field. */
function checkTool(tool: JsonValue, index: number): void {
  const kinds = !isJsonObject(tool) ? [] : typeof tool.type === 'string' ? [tool.type] : Object.keys(tool)
  if (kinds.length === 0 || !kinds.every((kind) => CALLER_RUN_TOOL.test(kind))) refuse(`tools[${index}]`)
}

function refuse(param: string): never {
  throw invalidRequest(`${param}: no price covers what was asked for, so it is not available here`, param)
}
