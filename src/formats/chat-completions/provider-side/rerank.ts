/** Ranked documents at providers like Cohere, Jina and Voyage AI: the base URL and `/rerank`. */
import type { RerankRequest } from '@/chat/rerank'
import { readCount, type Usage, ZERO_USAGE } from '@/chat/usage'
import { fieldsLeftOut, passedFields } from '@/formats/chat-completions/media-fields'
import type { MediaAnswer, MediaCall, MediaTraits } from '@/formats/media-call'
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '@/lib/json'

const PATH = 'rerank'

/** The call for `request`. The provider ranks all documents; the gateway then keeps as many as requested. */
export function rerankCall(request: RerankRequest): MediaCall {
  return {
    encode(traits) {
      const leftOut = fieldsLeftOut(request.unlisted, traits)
      const fields = passedFields(request.fields, leftOut)
      return { path: PATH, body: { ...fields, model: traits.model, documents: [...request.texts] }, leftOut }
    },
    decode(bytes, _, traits) {
      const json = parseJson(Buffer.from(bytes).toString())
      return isJsonObject(json) ? answerOf(request, json, traits) : undefined
    },
  }
}

type Ranked = { index: number; score: number }

function answerOf(request: RerankRequest, json: JsonObject, traits: MediaTraits): MediaAnswer | undefined {
  const ranked = readRanked(json.results ?? json.data, request.texts.length)
  if (!ranked) return undefined
  const { searchUnits, tokens } = readUsage(json)
  const sellsUnits = traits.sells('search_unit')
  const isStated = (!sellsUnits || searchUnits !== undefined) && (!traits.sells('token') || tokens !== undefined)
  const billed = sellsUnits ? { search_units: searchUnits ?? request.searchUnits } : { input_tokens: tokens ?? 0 }
  const meta = { api_version: { version: String(request.version) }, billed_units: billed }
  const results = ranked.slice(0, request.mostResults).map((one) => resultOf(one, request))
  const id = typeof json.id === 'string' ? json.id : crypto.randomUUID()
  const usage = tokens === undefined ? {} : { usage: { total_tokens: tokens, prompt_tokens: tokens } }
  const told = request.version === 1 ? { id, model: request.model, results, meta, ...usage } : { id, results, meta }
  return {
    body: JSON.stringify(told),
    contentType: 'application/json',
    usage: isStated ? usageOf(tokens, searchUnits) : null,
  }
}

/** The provider's ranking; undefined unless it has each document exactly once. */
function readRanked(list: JsonValue | undefined, count: number): Ranked[] | undefined {
  if (!Array.isArray(list) || list.length !== count) return undefined
  const ranked: Ranked[] = []
  const seen = new Set<number>()
  for (const one of list) {
    if (!isJsonObject(one)) return undefined
    const index = readCount(one.index)
    const score = one.relevance_score
    if (index === undefined || index >= count || seen.has(index) || typeof score !== 'number') return undefined
    seen.add(index)
    ranked.push({ index, score })
  }
  return ranked.sort((one, other) => other.score - one.score)
}

function resultOf({ index, score }: Ranked, { documents }: RerankRequest): JsonObject {
  const document = documents?.[index]
  const shown = typeof document === 'string' ? { text: document } : document
  return { index, relevance_score: score, ...(shown !== undefined && { document: shown }) }
}

/** Cohere states search units, other providers tokens. */
function readUsage({ meta, usage }: JsonObject): { searchUnits?: number | undefined; tokens?: number | undefined } {
  const { billed_units: billed, tokens } = isJsonObject(meta) ? meta : {}
  const counted = isJsonObject(usage) ? usage : {}
  const stated = isJsonObject(tokens) ? tokens : {}
  return {
    searchUnits: isJsonObject(billed) ? readCount(billed.search_units) : undefined,
    tokens: readCount(counted.total_tokens) ?? readCount(counted.prompt_tokens) ?? readCount(stated.input_tokens),
  }
}

function usageOf(tokens: number | undefined, searchUnits: number | undefined): Usage {
  const usage = { ...ZERO_USAGE, uncached: tokens ?? 0 }
  if (!searchUnits) return usage
  return { ...usage, units: [{ billable: 'request', unit: 'search_unit', count: searchUnits }] }
}
