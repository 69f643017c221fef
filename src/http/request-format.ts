/** Tells which format's a request is where no route of one format has it: for the words of an error, and for shared endpoints. */
import type { FormatName } from '@/chat/format-name'
import type { Format } from '@/formats/format'
import { assert } from '@/lib/assert'
import type { JsonObject } from '@/lib/json'

type Formats = ReadonlyMap<FormatName, Format>

/** The format of requests that could be any format's. */
export function defaultFormat(formats: Formats): Format {
  const [first] = formats.values()
  assert(first, 'there is a format')
  return first
}

/**
 * Which format's words the errors of a request use. A path that formats share (the model lists) or that belongs to none is
 * told by the headers that only one format's clients send.
 */
export function formatOfRequest(formats: Formats, path: string, headers: Headers): Format {
  const all = [...formats.values()]
  const owner = all.find(({ recognition }) => recognition.isOwnPath(path))
  return owner ?? formatOfHeaders(all, headers) ?? defaultFormat(formats)
}

/** The one of `formats` whose clients alone send such headers. */
export function formatOfHeaders(formats: readonly Format[], headers: Headers): Format | undefined {
  return formats.find(({ recognition }) => recognition.headers.some((name) => headers.has(name)))
}

/** Whose body this is. */
export function formatOfBody(formats: Formats, body: JsonObject, headers: Headers): Format {
  const owner = formats.values().find(({ recognition }) => recognition.isOwnBody(body, headers))
  return owner ?? defaultFormat(formats)
}
