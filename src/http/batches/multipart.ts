/** Reads a multipart body piece by piece, so that memory never holds a whole large file. */
import { GatewayError, invalidRequest } from '@/chat/error'

/** A piece of a part's content, or the beginning of a part. */
export type PartEvent =
  | { kind: 'part'; name: string; filename: string | undefined }
  | { kind: 'data'; bytes: Uint8Array }

const MAX_HEAD_BYTES = 8 * 1024
const MAX_PARTS = 32
const CRLF = Buffer.from('\r\n')
const HEAD_END = Buffer.from('\r\n\r\n')

/** The boundary of a request's multipart body. Throws 415 for another content type. */
export function boundaryOf(headers: Headers): string {
  const type = headers.get('content-type') ?? ''
  const boundary = /^multipart\/form-data\s*;(?:.*;)?\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(type)
  const found = boundary?.[1] ?? boundary?.[2]
  if (found !== undefined) return found
  throw new GatewayError(
    'unsupported_media_type',
    "The Content-Type header must be 'multipart/form-data' with a boundary.",
  )
}

/** The parts of `body` in their order. Throws `invalid_request` if it is no multipart body, or ends too early. */
export async function* readParts(body: AsyncIterable<Uint8Array>, boundary: string): AsyncGenerator<PartEvent> {
  const delimiter = Buffer.from(`\r\n--${boundary}`)
  // The first delimiter may be at the very beginning, so the line break before it is added here.
  let rest: Buffer = CRLF
  let state: 'before' | 'head' | 'content' | 'end' = 'before'
  let parts = 0
  for await (const chunk of body) {
    if (state === 'end') continue
    rest = Buffer.concat([rest, chunk])
    for (;;) {
      if (state === 'head') {
        const end = rest.indexOf(HEAD_END)
        if (end === -1 && rest.length > MAX_HEAD_BYTES) throw broken()
        if (end === -1) break
        if (++parts > MAX_PARTS) throw invalidRequest(`The form has more than ${MAX_PARTS} fields.`)
        yield readHead(rest.subarray(0, end).toString())
        // The content begins after the empty line. The line break after the content belongs to the next delimiter.
        rest = rest.subarray(end + HEAD_END.length)
        state = 'content'
        continue
      }
      const at = rest.indexOf(delimiter)
      const known = at === -1 ? Math.max(0, rest.length - delimiter.length + 1) : at
      if (known > 0 && state === 'content') yield { kind: 'data', bytes: rest.subarray(0, known) }
      rest = rest.subarray(known)
      if (at === -1 || rest.length < delimiter.length + 2) break
      const next = rest.subarray(delimiter.length, delimiter.length + 2).toString()
      if (next !== '--' && next !== '\r\n') throw broken()
      state = next === '--' ? 'end' : 'head'
      // The line break before a head stays in `rest`, so that an empty head ends at once.
      rest = rest.subarray(delimiter.length + (state === 'end' ? 2 : 0))
      if (state === 'end') break
    }
  }
  if (state !== 'end') throw broken()
}

function readHead(text: string): PartEvent {
  const disposition = /^content-disposition:\s*form-data\s*;(.*)$/im.exec(text)?.[1]
  const name = disposition === undefined ? undefined : parameter(disposition, 'name')
  if (disposition === undefined || name === undefined) throw broken()
  return { kind: 'part', name, filename: parameter(disposition, 'filename') }
}

function parameter(text: string, name: string): string | undefined {
  const found = new RegExp(`(?:^|;)\\s*${name}=(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\s;"]*))`, 'i').exec(text)
  return found?.[1]?.replace(/\\(.)/g, '$1') ?? found?.[2]
}

function broken(): GatewayError {
  return invalidRequest('The body is not a whole multipart form.')
}
