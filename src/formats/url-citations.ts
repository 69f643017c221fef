/** Converts sources of answers to and from annotations in OpenAI's two formats, one of which nests the fields. */
import { readSource, type Source } from '@/chat/sources'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'

const TYPE = 'url_citation'

/** The sources among `annotations`; other kinds of annotations name files at the provider. */
export function decodeAnnotations(annotations: JsonValue | undefined): Source[] {
  if (!Array.isArray(annotations)) return []
  return annotations.flatMap((annotation) => {
    if (!isJsonObject(annotation) || annotation.type !== TYPE) return []
    const {
      url,
      title,
      content,
      start_index: start,
      end_index: end,
    } = isJsonObject(annotation[TYPE]) ? annotation[TYPE] : annotation
    return readSource({ url, title, quote: content, start, end }) ?? []
  })
}

/** The annotation of one source. Clients require every field, so unknown positions are 0. */
export function encodeAnnotation({ url, title = '', start = 0, end = 0 }: Source, isWrapped: boolean): JsonObject {
  const citation = { url, title, start_index: start, end_index: end }
  return isWrapped ? { type: TYPE, [TYPE]: citation } : { type: TYPE, ...citation }
}
