/** Refuses requests that could cost more than the catalogue has prices for: tool fees, service tiers, input of unknown size. */
import { GatewayError, invalidRequest } from '@/chat/error'
import type { FormatName } from '@/chat/format-name'
import type { ChatRequest, UnpricedField } from '@/chat/request'
import type { ServerTool } from '@/chat/server-tools'
import { extraTier } from '@/chat/service-tier'
import { UNPRICED_EXTRAS } from '@/formats/body-fields'
import { isJsonObject, type JsonValue } from '@/lib/json'
import { takesTools } from './tool-allowance'
import type { Target } from './types'

const SERVICE_TIER = 'service_tier'

/** Tool types that the caller runs: they cost only tokens. */
const CALLER_RUN_TOOL =
  /^(function|custom|bash|text_editor|memory|computer|computerUse|computer_use|browser|tool_search|local_shell|apply_patch)(_|$)/
/** Blocks that refer to content outside the request. */
const UNSEEN_BLOCK = /upload|file/
/** The place of a tool in a body: in `tools`, or in an item of the conversation that adds tools. */
const TOOL_FIELD = /(?:^|\.)tools\[/
/** The form of an entry of `nativeOnly`: a field, and in parentheses its kind, if the field's name doesn't show it. */
const NATIVE = /^([^\s(]+)(?: \((.*)\))?$/

/**
 * Throws `invalid_request` for the first field of `request` that could cost more than its tokens. A field is accepted if the catalogue
 * allows it at all `targets`, or if all have {@link UNPRICED_EXTRAS}. Fields are never silently omitted for one target.
 */
export function refuseUnpriceable(request: ChatRequest, targets: readonly Target[] = []): void {
  for (const field of request.unpriced ?? []) checkUnpriced(field, targets)
  if (targets.length > 0 && targets.every(bearsExtras)) return
  const tier = extraTier(request.serviceTier)
  if (tier !== undefined && (targets.length === 0 || !targets.every((target) => takesTier(target, tier))))
    refuse(SERVICE_TIER)
  const { serverTools = NO_TOOLS, nativeOnly } = request
  for (const tool of serverTools) if (!tool.isOptional) checkServerTool(tool, targets)
  if (nativeOnly) {
    const priced = new Set(serverTools.map(({ field, kind }) => `${field} (${kind})`))
    for (const native of nativeOnly) if (!priced.has(native)) checkNative(native)
  }
  for (const format in request.extensions) {
    const tools: JsonValue | undefined = request.extensions[format as FormatName]?.tools
    if (Array.isArray(tools)) for (const [index, tool] of tools.entries()) checkTool(tool, index, serverTools)
  }
}

/** Whether the operator bears the cost of everything without a price. */
function bearsExtras({ quirks }: Target): boolean {
  return quirks.has(UNPRICED_EXTRAS)
}

/** Whether `tier` may be requested from `target`: it has a price there, or the operator bears its cost. */
export function takesTier(target: Target, tier: string): boolean {
  return target.serviceTiers?.has(tier) === true || bearsTiers(target)
}

/** Whether the operator bears the cost of service tiers other than standard. */
export function bearsTiers({ quirks, provider }: Target): boolean {
  return quirks.has(UNPRICED_EXTRAS) || provider.passFields.has(SERVICE_TIER)
}

const NO_TOOLS: readonly ServerTool[] = []

function checkUnpriced({ format, field, code }: UnpricedField, targets: readonly Target[]): void {
  const isBorne = ({ quirks, provider }: Target) =>
    (quirks.has(UNPRICED_EXTRAS) || provider.passFields.has(field)) &&
    (code === undefined || provider.format === format)
  if (targets.length > 0 && targets.every(isBorne)) return
  if (code === undefined) refuse(field)
  throw new GatewayError('invalid_request', `${field} is not available here; send the request without it.`, {
    param: field,
    code,
  })
}

/** Refuses a tool unless every target has a price for it, since any target may have to answer. */
function checkServerTool(tool: ServerTool, targets: readonly Target[]): void {
  if (targets.length === 0 || !targets.every((target) => takesTools(target, [tool]))) refuse(tool.field)
}

function checkNative(native: string): void {
  const [, field = native, kind = ''] = NATIVE.exec(native) ?? []
  if (TOOL_FIELD.test(field) && !CALLER_RUN_TOOL.test(kind)) refuse(field)
  if (UNSEEN_BLOCK.test(kind)) refuse(field)
}

/** Refuses a tool without a price. Its kind is its `type`, or in generate-content the name of its only field. */
function checkTool(tool: JsonValue, index: number, priced: readonly ServerTool[]): void {
  const kinds = !isJsonObject(tool) ? [] : typeof tool.type === 'string' ? [tool.type] : Object.keys(tool)
  const isFree = (kind: string) => CALLER_RUN_TOOL.test(kind) || priced.some((one) => one.kind === kind)
  if (kinds.length === 0 || !kinds.every(isFree)) refuse(`tools[${index}]`)
}

/** OpenRouter's own services, by field. The gateway doesn't offer them at any price. */
const NOT_OFFERED: ReadonlyMap<string, string> = new Map([
  ['plugins', 'none is offered here (no web search for any model, no reading of files beside it); leave it out'],
  ['transforms', 'none is offered here (a conversation that is too long is refused, not shortened); leave it out'],
])

function refuse(param: string): never {
  const notOffered = NOT_OFFERED.get(param)
  if (notOffered !== undefined) throw invalidRequest(`${param}: ${notOffered}`, param)
  throw invalidRequest(`${param} is not available here: no price covers it`, param)
}
