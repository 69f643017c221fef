/** Stores bodies that are no text, such as sound, as base64 in place of text. */

/** A marker among the stored headers: the body is base64. Clients don't get it. */
const ENCODED: [string, string] = ['kept-as', 'base64']
const TEXT = /^(?:text\/|application\/(?:json|x-ndjson)\b)/i

/** How to store the body of a response with these headers. */
export function encodingOf(headers: Headers): 'utf8' | 'base64' {
  return TEXT.test(headers.get('content-type') ?? 'text/plain') ? 'utf8' : 'base64'
}

/** The headers to store with a body. */
export function keptHeaders(headers: Headers): [string, string][] {
  return encodingOf(headers) === 'utf8' ? [...headers] : [...headers, ENCODED]
}

/** The headers and the body of a response, as they were before they were stored. */
export function restored(kept: { headers: [string, string][]; body: string }): {
  headers: [string, string][]
  body: string | Uint8Array<ArrayBuffer>
} {
  const headers = kept.headers.filter(([name]) => name !== ENCODED[0])
  if (headers.length === kept.headers.length) return kept
  return { headers, body: Buffer.from(kept.body, 'base64') }
}
