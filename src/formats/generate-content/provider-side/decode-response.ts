import { createFolder } from '@/chat/fold'
import type { ChatResponse, Choice } from '@/chat/response'
import { decodeGrounding } from '@/formats/generate-content/grounding'
import { decodeLogprobs } from '@/formats/generate-content/logprobs'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import { createStreamDecoder } from './decode-stream'

/** Decodes a complete answer, or a list of a stream's chunks; undefined for other bodies. A missing finish reason means a stop. */
export function decodeResponse(body: JsonValue, mintCallId?: () => string): ChatResponse | undefined {
  const decoder = createStreamDecoder(mintCallId)
  const folder = createFolder()
  for (const chunk of Array.isArray(body) ? body : [body]) {
    const events = decoder.push({ event: undefined, data: 'json', raw: '' }, chunk)
    if (events.some((event) => event.type === 'error')) return undefined
    for (const event of events) folder.push(event)
  }
  for (const event of decoder.end()) folder.push(event)
  const response = folder.response()
  if (response.choices.length === 0) return undefined
  for (const choice of response.choices) {
    if (choice.finish.raw === undefined && choice.content.some((block) => block.type === 'tool-call')) {
      choice.finish = { kind: 'tool-calls' }
    }
    placeSources(choice, candidateOf(body, choice.index)?.groundingMetadata)
    const logprobs = decodeLogprobs(candidateOf(body, choice.index)?.logprobsResult)
    if (logprobs) choice.logprobs = logprobs
  }
  return response
}

/** In a complete answer the text is known, so sources get their ranges. */
function placeSources({ content }: Choice, metadata: JsonValue | undefined): void {
  const texts = content.filter((block) => block.type === 'text')
  const cited = texts.find((block) => block.sources)
  if (cited) cited.sources = decodeGrounding(metadata, texts.map(({ text }) => text).join(''))
}

function candidateOf(body: JsonValue, index: number): JsonObject | undefined {
  const candidates = isJsonObject(body) && Array.isArray(body.candidates) ? body.candidates : []
  return candidates.filter(isJsonObject).find((candidate, position) => (candidate.index ?? position) === index)
}
