/** Converts sources of answers to and from citations of text blocks. */
import { readSource, type Source } from '@/chat/sources'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'

/** Replaces the proof that a provider adds to its own search results; the format's providers would refuse this text. */
const FOREIGN = 'svc.unsigned'

/** The source in a citation of a web page; citations of request documents are ignored. */
function decodeCitation(citation: JsonValue | undefined): Source | undefined {
  if (!isJsonObject(citation)) return undefined
  const { url, source, title, cited_text: quote } = citation
  return readSource({ url: url ?? source, title, quote })
}

/** Reads the sources from the `citations` of a block. */
export function decodeCitations(citations: JsonValue | undefined): Source[] {
  return Array.isArray(citations) ? citations.flatMap((citation) => decodeCitation(citation) ?? []) : []
}

/** A citation for a source named by another format's provider. It applies to the whole block. */
export function encodeCitation({ url, title = '', quote = '' }: Source): JsonObject {
  return { type: 'web_search_result_location', url, title, cited_text: quote, encrypted_index: FOREIGN }
}

/** Whether a block has citations that no provider of this format made. */
export function hasForeignCitations(block: JsonValue): boolean {
  return isJsonObject(block) && Array.isArray(block.citations) && block.citations.some(isForeign)
}

/** The block without other providers' citations. */
export function withoutForeignCitations(block: JsonValue): JsonValue {
  if (!isJsonObject(block) || !hasForeignCitations(block)) return block
  const { citations, ...rest } = block
  const own = Array.isArray(citations) ? citations.filter((citation) => !isForeign(citation)) : []
  return own.length > 0 ? { ...rest, citations: own } : rest
}

function isForeign(citation: JsonValue): boolean {
  return isJsonObject(citation) && citation.encrypted_index === FOREIGN
}

/** The bytes of an image in an answer. Some models of other vendors return images through Converse. */
export function readPicture({ source }: JsonObject): { mediaType: string; data: string } | undefined {
  const { media_type: mediaType, data } = isJsonObject(source) ? source : {}
  return typeof mediaType === 'string' && typeof data === 'string' ? { mediaType, data } : undefined
}
