/** Determines the format of a request on a path shared by formats: for errors, and for shared endpoints. */
import type { FormatName } from '@/chat/format-name'
import type { Format } from '@/formats/format'
import { assert } from '@/lib/assert'
import type { JsonObject } from '@/lib/json'

type Formats = ReadonlyMap<FormatName, Format>

/** The format assumed if nothing identifies a request's format. */
export function defaultFormat(formats: Formats): Format {
  const [first] = formats.values()
  assert(first, 'there is a format')
  return first
}

/** The format of a request's errors. For shared or unknown paths, headers that only one format's clients send decide. */
export function formatOfRequest(formats: Formats, path: string, headers: Headers): Format {
  const all = [...formats.values()]
  const owner = all.find(({ recognition }) => recognition.isOwnPath(path))
  return owner ?? formatOfHeaders(all, headers) ?? defaultFormat(formats)
}

/** The format whose clients send such headers; undefined if no header identifies a format. */
export function formatOfHeaders(formats: readonly Format[], headers: Headers): Format | undefined {
  return formats.find(({ recognition }) => recognition.headers.some((name) => headers.has(name)))
}

/** The format of a body, by its fields and its request's headers. */
export function formatOfBody(formats: Formats, body: JsonObject, headers: Headers): Format {
  const owner = formats.values().find(({ recognition }) => recognition.isOwnBody(body, headers))
  return owner ?? defaultFormat(formats)
}
