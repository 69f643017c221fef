/** Changes to bodies if caller and provider both use generate-content: names, limits, and usage if the provider sends none. */
import type { ChatRequest } from '@/chat/request'
import { leftOutFields, relayedFields } from '@/formats/body-fields'
import type { AnswerContext, PassHooks, PassingStream, PassThrough, TargetTraits } from '@/formats/format'
import { leaveOutInside } from '@/formats/nested-fields'
import { ROUTING_FIELDS } from '@/formats/routing-fields'
import { isJsonObject, type JsonObject } from '@/lib/json'
import { asWritten, rememberNumbers } from '@/lib/json-source/as-written'
import { editJson, type JsonEdit, replaceStringInJson } from '@/lib/json-splice'
import { BODY_FIELDS, CONFIG_FIELDS, NESTED_FIELDS } from './body-fields'
import { isFinished } from './finish-reason'
import { onOneLine } from './framing'
import { camelCase, contentOfSystem, listOfContents } from './normalise'
import { QUIRKS } from './provider'
import { restoreSignatures } from './restore-signatures'
import { decodeUsage, encodeUsage } from './usage'

export const passThrough: PassThrough = { request: passRequest, response: passResponse, createStream }

/**
 * The caller's body for the provider, in the caller's spelling. Our `fallback`, `svc` and `usage`, and signatures unknown to the provider
 * are removed. Shorthand for contents is expanded. The output limit is the one that the hold covers. Uses the quirks of
 * restore-signatures.ts and `noThinking`.
 */
function passRequest(body: JsonObject, request: ChatRequest, traits: TargetTraits): JsonObject {
  const { fallback: _, svc: _preferences, ...passed } = relayedFields(body, BODY_FIELDS)
  for (const field of ROUTING_FIELDS) if (passed[field] !== undefined) delete passed[field]
  const configKey = spelledKey(body, 'generationConfig')
  const config = body[configKey]
  if (isJsonObject(config)) passed[configKey] = relayedFields(config, CONFIG_FIELDS, camelCase)
  const contentsKey = spelledKey(body, 'contents')
  const contents = listOfContents(passed[contentsKey])
  passed[contentsKey] = restoreSignatures(contents, request.turns, traits.quirks)
  const systemKey = spelledKey(body, 'systemInstruction')
  if (passed[systemKey] !== undefined && passed[systemKey] !== null)
    passed[systemKey] = contentOfSystem(passed[systemKey])
  if (traits.quirks.has(QUIRKS.noThinking)) withoutThinking(passed)
  const leftOut = leftOutFields(request, traits)
  for (const field of leftOut) leaveOut(passed, field)
  if (leftOut.length > 0) leaveOutInside(passed, leftOut, NESTED_FIELDS, camelCase)
  return request.maxOutputTokens === undefined ? passed : withOutputLimit(passed, request.maxOutputTokens)
}

function passResponse(text: string, json: JsonObject, { model }: AnswerContext, hooks: PassHooks): string {
  const named = withPublicModel(text, json, model)
  return decodeUsage(json.usageMetadata) ? withCounts(named, json, hooks) : withUsage(named, hooks)
}

/** Adds missing zero counts: the provider's JSON omits them, but some libraries require them. */
function withCounts(text: string, { usageMetadata }: JsonObject, hooks: PassHooks): string {
  const edits: JsonEdit[] = []
  for (const [name, details] of Object.entries(isJsonObject(usageMetadata) ? usageMetadata : {})) {
    if (!Array.isArray(details)) continue
    for (const [place, detail] of details.entries()) {
      if (!isJsonObject(detail) || detail.tokenCount !== undefined) continue
      edits.push({ path: ['usageMetadata', name, place, 'tokenCount'], value: 0 })
    }
  }
  if (edits.length === 0) return text
  hooks.repaired('usage')
  return editJson(text, edits)
}

function withPublicModel(text: string, json: JsonObject, publicModel: string): string {
  const name = json.modelVersion
  return typeof name === 'string' ? replaceStringInJson(text, ['modelVersion'], name, publicModel) : text
}

function withUsage(text: string, hooks: PassHooks): string {
  hooks.repaired('usage')
  return editJson(text, [{ path: ['usageMetadata'], value: encodeUsage(hooks.charged()) }])
}

function createStream({ model }: AnswerContext, hooks: PassHooks): PassingStream {
  return {
    // Drops events that are no chunk of an answer: the client library throws at them, and the gateway encodes errors itself.
    event(data, read) {
      const isListed = Array.isArray(read) && read.length === 1
      const json = isListed ? read[0] : read
      if (!isJsonObject(json) || json.error !== undefined) return undefined
      if (isListed) rememberNumbers(read, data)
      const text = isListed ? JSON.stringify(asWritten(json)) : data
      const named = withCounts(withPublicModel(text, json, model), json, hooks)
      return onOneLine(isLast(json) && !hooks.isUsageStated() ? withUsage(named, hooks) : named)
    },
    closesWithUsage: (json) => isJsonObject(json) && isLast(json),
    ending: () => [],
  }
}

function isLast({ candidates }: JsonObject): boolean {
  return Array.isArray(candidates) && candidates.some(isFinished)
}

/** Removes a field. `field` is a path of one or two names, each of which the caller may have sent in snake_case. */
function leaveOut(passed: JsonObject, field: string): void {
  const [configName, inner] = field.split('.', 2)
  if (configName !== 'generationConfig' || inner === undefined) {
    delete passed[spelledKey(passed, field)]
    return
  }
  const configKey = spelledKey(passed, configName)
  const config = passed[configKey]
  if (!isJsonObject(config)) return
  const { [spelledKey(config, field.slice(configName.length + 1))]: _, ...rest } = config
  passed[configKey] = rest
}

/** Removes fields that the model refuses according to the catalogue, since a tier may choose such a model unexpectedly. */
function withoutThinking(passed: JsonObject): void {
  const configKey = spelledKey(passed, 'generationConfig')
  const config = passed[configKey]
  if (!isJsonObject(config)) return
  const { [spelledKey(config, 'thinkingConfig')]: _, ...rest } = config
  passed[configKey] = rest
}

function withOutputLimit(body: JsonObject, limit: number): JsonObject {
  const configKey = spelledKey(body, 'generationConfig')
  const config = isJsonObject(body[configKey]) ? body[configKey] : {}
  const limitKey = spelledKey(config, 'maxOutputTokens')
  if (config[limitKey] === limit) return body
  return { ...body, [configKey]: { ...config, [limitKey]: limit } }
}

/** The caller's key for a field of `object`, in camelCase or snake_case. */
function spelledKey(object: JsonObject, field: string): string {
  return Object.keys(object).find((key) => object[key] != null && camelCase(key) === field) ?? field
}
