/** Converts sources to and from a candidate's grounding, whose positions are bytes of UTF-8. */
import { readSource, type Source } from '@/chat/sources'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'

/** The sources of a candidate. Their ranges need `text`, the candidate's whole text. */
export function decodeGrounding(metadata: JsonValue | undefined, text?: string): Source[] {
  if (!isJsonObject(metadata)) return []
  const { groundingChunks: chunks, groundingSupports: supports } = metadata
  if (!Array.isArray(chunks)) return []
  const pages = chunks.map((chunk) => (isJsonObject(chunk) && isJsonObject(chunk.web) ? chunk.web : {}))
  const used = new Set<number>()
  const bytes = text === undefined ? undefined : Buffer.from(text)
  const placed = (Array.isArray(supports) ? supports : []).flatMap((support) => {
    if (!isJsonObject(support) || !Array.isArray(support.groundingChunkIndices)) return []
    const place = bytes ? placeOf(support.segment, bytes) : {}
    return support.groundingChunkIndices.flatMap((index) => {
      const page = typeof index === 'number' ? pages[index] : undefined
      if (!page || typeof index !== 'number' || (!bytes && used.has(index))) return []
      used.add(index)
      return (
        readSource({
          ...{ url: page.uri, title: page.title, quote: undefined },
          ...{ start: place.start, end: place.end },
        }) ?? []
      )
    })
  })
  const others = pages.flatMap(({ uri: url, title }, index) =>
    used.has(index)
      ? []
      : (readSource({ ...{ url, title, quote: undefined }, ...{ start: undefined, end: undefined } }) ?? []),
  )
  return [...placed, ...others]
}

function placeOf(segment: JsonValue | undefined, bytes: Buffer): { start?: number; end?: number } {
  const { startIndex: from = 0, endIndex: to } = isJsonObject(segment) ? segment : {}
  if (typeof from !== 'number' || typeof to !== 'number' || to > bytes.length) return {}
  const start = bytes.subarray(0, from).toString().length
  return { start, end: start + bytes.subarray(from, to).toString().length }
}

/** The grounding field, if there are sources. Ranges need `text`, the candidate's whole text. */
export function encodeGrounding(sources: readonly Source[], text?: string): { groundingMetadata?: JsonObject } {
  if (sources.length === 0) return {}
  const urls = [...new Set(sources.map(({ url }) => url))]
  const chunks = urls.map((uri) => ({ web: { uri, title: sources.find(({ url }) => url === uri)?.title ?? '' } }))
  const supports = text === undefined ? [] : sources.flatMap((source) => supportOf(source, urls, text))
  return {
    groundingMetadata: { groundingChunks: chunks, ...(supports.length > 0 && { groundingSupports: supports }) },
  }
}

function supportOf({ url, start, end }: Source, urls: readonly string[], text: string): JsonObject[] {
  if (start === undefined || end === undefined) return []
  const segment = {
    startIndex: Buffer.byteLength(text.slice(0, start)),
    endIndex: Buffer.byteLength(text.slice(0, end)),
    text: text.slice(start, end),
  }
  return [{ segment, groundingChunkIndices: [urls.indexOf(url)] }]
}
