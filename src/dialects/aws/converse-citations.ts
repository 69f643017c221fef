import { isJsonObject, type JsonObject, type JsonValue, textOf } from '@/lib/json'
import { listOf } from './messages-body'

/** A placeholder for the proof in a citation of messages. It is never sent to providers (formats/messages/citations.ts). */
const NO_PROOF = 'svc.unsigned'

/** Converts a citation of a Converse answer to messages; none if it has no location. */
export function citationOf({ title, source, sourceContent, location }: JsonObject): JsonObject[] {
  if (!isJsonObject(location)) return []
  const quote = listOf(sourceContent).map(({ text }) => textOf(text) ?? '')
  const cited = { cited_text: quote.join('') }
  const { web, documentChar, documentPage, documentChunk, searchResultLocation: found } = location
  if (isJsonObject(web)) {
    const page = { url: web.url ?? '', title: textOf(title) ?? textOf(web.domain) ?? '' }
    return [{ type: 'web_search_result_location', ...page, ...cited, encrypted_index: NO_PROOF }]
  }
  if (isJsonObject(found)) {
    const result = { source: source ?? '', title: title ?? null, search_result_index: found.searchResultIndex ?? 0 }
    return [{ type: 'search_result_location', ...result, ...cited, ...range('block', found) }]
  }
  const document = (place: JsonObject) => ({ document_index: place.documentIndex ?? 0, document_title: title ?? null })
  if (isJsonObject(documentChar)) {
    return [{ type: 'char_location', ...document(documentChar), ...cited, ...range('char', documentChar, '_index') }]
  }
  if (isJsonObject(documentPage)) {
    return [{ type: 'page_location', ...document(documentPage), ...cited, ...range('page', documentPage, '_number') }]
  }
  if (!isJsonObject(documentChunk)) return []
  return [{ type: 'content_block_location', ...document(documentChunk), ...cited, ...range('block', documentChunk) }]
}

function range(what: string, { start, end }: JsonObject, unit = '_index'): { [field: string]: JsonValue } {
  return { [`start_${what}${unit}`]: start ?? 0, [`end_${what}${unit}`]: end ?? 0 }
}
