/** Sources of answers as citations of text blocks. */
import { readSource, type Source } from '@/chat/sources'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'

/** Stands where a provider of the format has a proof of its own search; a provider would refuse it. */
const FOREIGN = 'svc.unsigned'

/** The source of one citation, if it names a page: others name places in documents of the request. */
function decodeCitation(citation: JsonValue | undefined): Source | undefined {
  if (!isJsonObject(citation)) return undefined
  const { url, source, title, cited_text: quote } = citation
  return readSource({ url: url ?? source, title, quote })
}

/** The sources of a block's `citations`. */
export function decodeCitations(citations: JsonValue | undefined): Source[] {
  return Array.isArray(citations) ? citations.flatMap((citation) => decodeCitation(citation) ?? []) : []
}

/** The citation of a source that a provider of another format has named. It holds for the whole block that it stands in. */
export function encodeCitation({ url, title = '', quote = '' }: Source): JsonObject {
  return { type: 'web_search_result_location', url, title, cited_text: quote, encrypted_index: FOREIGN }
}

/** Whether a block cites what no provider of the format has found. */
export function hasForeignCitations(block: JsonValue): boolean {
  return isJsonObject(block) && Array.isArray(block.citations) && block.citations.some(isForeign)
}

/** The block without such citations. */
export function withoutForeignCitations(block: JsonValue): JsonValue {
  if (!isJsonObject(block) || !hasForeignCitations(block)) return block
  const { citations, ...rest } = block
  const own = Array.isArray(citations) ? citations.filter((citation) => !isForeign(citation)) : []
  return own.length > 0 ? { ...rest, citations: own } : rest
}

function isForeign(citation: JsonValue): boolean {
  return isJsonObject(citation) && citation.encrypted_index === FOREIGN
}

/** The bytes of a picture in an answer. Models of other vendors answer with some at Converse. */
export function readPicture({ source }: JsonObject): { mediaType: string; data: string } | undefined {
  const { media_type: mediaType, data } = isJsonObject(source) ? source : {}
  return typeof mediaType === 'string' && typeof data === 'string' ? { mediaType, data } : undefined
}
