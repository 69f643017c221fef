/** Reads generate-content answers as strictly as the strictest client library does. */
import type { Finish, Seen } from '@test/matrix/types'
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '@/lib/json'
import {
  asObject,
  checkCallIds,
  countOf,
  nothing,
  objects,
  type ReadContext,
  type Reader,
  type Reading,
  splitEvents,
  textOf,
} from './reading'

const FINISHES: Record<string, Finish> = {
  STOP: 'stop',
  MAX_TOKENS: 'length',
  SAFETY: 'refusal',
  OTHER: 'failed',
}

export const generateContentReader: Reader = { readWhole, readStream, readError }

function readWhole(body: JsonValue | undefined, context: ReadContext): Reading {
  const complaints: string[] = []
  const seen = readResponses([asObject(body) ?? {}], context, complaints, false)
  return { seen, error: undefined, complaints: context.isRaw ? [] : complaints }
}

function readStream(text: string, context: ReadContext): Reading {
  const complaints: string[] = []
  const responses = text.trimStart().startsWith('[') ? readArray(text, complaints) : readEvents(text, complaints)
  const failed = responses.find((response) => response.error !== undefined)
  const answers = responses.filter((response) => response.error === undefined)
  const seen = readResponses(answers, context, complaints, failed !== undefined)
  if (!failed) return { seen, error: undefined, complaints: context.isRaw ? [] : complaints }
  if (responses.at(-1) !== failed) complaints.push('something follows the error')
  const message = readError(countOf(asObject(failed.error)?.code), failed)
  if (message === undefined) complaints.push('the error has not the shape of the format')
  return { seen, error: { status: 200, message: message ?? '', textBefore: seen.text }, complaints }
}

function readEvents(text: string, complaints: string[]): JsonObject[] {
  if (/[^\r]\n/.test(text)) complaints.push('a line does not end in CRLF')
  // The library for Python ends lines there.
  if (/[\u0085\u2028\u2029]/.test(text)) complaints.push('a line end of Unicode stands as it is')
  return splitEvents(text, complaints, false).flatMap(({ data, json }) => {
    if (!json) complaints.push(`an event is no JSON object: ${data.slice(0, 40)}`)
    return json ? [json] : []
  })
}

function readArray(text: string, complaints: string[]): JsonObject[] {
  const list = parseJson(text)
  if (!Array.isArray(list)) complaints.push('the stream is no JSON array')
  return objects(list)
}

function readResponses(responses: JsonObject[], context: ReadContext, complaints: string[], hasFailed: boolean): Seen {
  const seen = nothing()
  const ids: string[] = []
  let finish: string | undefined
  let isBlocked = false
  for (const response of responses) {
    if (finish !== undefined) complaints.push('a response follows the finish reason')
    if (response.modelVersion !== context.model) complaints.push(`modelVersion is ${response.modelVersion}`)
    if (textOf(response.responseId) === '') complaints.push('responseId is missing')
    isBlocked ||= textOf(asObject(response.promptFeedback)?.blockReason) !== ''
    const candidates = objects(response.candidates)
    if (candidates.length === 0 && !isBlocked) complaints.push('no candidates')
    for (const candidate of candidates) {
      const content = asObject(candidate.content)
      if (countOf(candidate.index) > 0) {
        addOther(seen, countOf(candidate.index), objects(content?.parts))
        continue
      }
      if (content && content.role !== 'model') complaints.push(`role is ${content.role}`)
      for (const part of objects(content?.parts)) addPart(seen, part, ids)
      if (typeof candidate.finishReason === 'string') finish = candidate.finishReason
    }
    if (isJsonObject(response.usageMetadata)) readUsage(seen, response.usageMetadata, complaints)
  }
  if (finish === undefined && !isBlocked && !hasFailed) complaints.push('no finish reason')
  checkCallIds(ids, complaints)
  seen.finish = finishOf(finish, isBlocked, seen, complaints)
  return seen
}

function addOther(seen: Seen, index: number, parts: JsonObject[]): void {
  seen.others[index - 1] = (seen.others[index - 1] ?? '') + parts.map((part) => textOf(part.text)).join('')
}

function addPart(seen: Seen, part: JsonObject, ids: string[]): void {
  const call = asObject(part.functionCall)
  const image = asObject(part.inlineData)
  if (call) {
    // The format lets a provider leave the id out.
    if (call.id !== undefined) ids.push(textOf(call.id))
    seen.calls.push({ name: textOf(call.name), arguments: call.args ?? null })
  } else if (image) seen.images.push(`${image.mimeType};${image.data}`)
  else if (part.thought === true) seen.reasoning += textOf(part.text)
  else seen.text += textOf(part.text)
}

/** A turn of calls ends with STOP in this format. */
function finishOf(word: string | undefined, isBlocked: boolean, seen: Seen, complaints: string[]): Finish {
  if (isBlocked) return 'refusal'
  if (word === undefined) return 'failed'
  const finish = FINISHES[word]
  if (!finish) complaints.push(`finishReason is ${word}`)
  if (finish === 'stop' && seen.calls.length > 0) return 'tool-calls'
  return finish ?? 'failed'
}

function readUsage(seen: Seen, usage: JsonObject, complaints: string[]): void {
  const input = countOf(usage.promptTokenCount)
  const reasoning = countOf(usage.thoughtsTokenCount)
  const output = countOf(usage.candidatesTokenCount) + reasoning
  if (usage.totalTokenCount !== input + output) complaints.push(`totalTokenCount is ${usage.totalTokenCount}`)
  const cacheRead = countOf(usage.cachedContentTokenCount)
  seen.usage = { input, cacheRead, cacheWrite: undefined, output, reasoning }
}

function readError(status: number, body: JsonValue | undefined): string | undefined {
  const error = asObject(asObject(body)?.error)
  if (!error || error.code !== status || typeof error.status !== 'string') return undefined
  return typeof error.message === 'string' ? error.message : undefined
}
