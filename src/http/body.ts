/** Reads the bodies of requests within a limit of bytes. JSON bodies have a limit of values in addition. */
import { GatewayError } from '@/chat/error'
import { countFields, isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import { rememberNumbers, rememberNumbersInTurns, TURN_CHARS } from '@/lib/json-source/as-written'
import { inspectJson, type JsonBounds } from '@/lib/json-source/scan'
import { turnFor } from '@/lib/wait/own-turn'
import { noteWork } from '@/metrics/work-log'

/** `files`: the files of a form, by the name of their field. */
export type JsonBody = {
  json: JsonObject
  bytes: number
  text?: string
  files?: ReadonlyMap<string, readonly File[]>
}

/** The size of a body for its parser: bytes, and expensive values (fields, and numbers that keep their digits). */
export type BodySize = { bytes: number; dearValues: number }

export type BodyReading = {
  /** Maximum JSON values; undefined: the limit for conversations. */
  maxValues?: number | undefined
  onBytes?: ((bytes: Uint8Array) => void) | undefined
  /** Decides when the body may be read and parsed. */
  share?: Partial<BodyShare> | undefined
}

/** One body's shares of memory and parsing time. Each method may refuse the body. */
type BodyShare = {
  /** Called when the headers are valid. Awaited before the body is read. Gets 0 if no length is announced. */
  enter(announcedBytes: number): Promise<void> | undefined
  /** Called for each piece of a body of unannounced length. */
  grow(bytes: number): void
  /** Called and awaited between reading and parsing. */
  beforeParse(size: BodySize): Promise<void> | undefined
}

export type BodyLimits = {
  maxBodyBytes: number
  maxJsonDepth: number
}

/** Maximum JSON values: far more than a conversation needs. Parsing a body that is full of values would take a second. */
const MAX_JSON_VALUES = 100_000
/** Maximum number of different field names, each of which is expensive to parse. */
const MAX_JSON_NAMES = 10_000
/** Maximum number of characters outside strings. Conversations have fewer, even if indented. */
const MAX_JSON_OUTSIDE = 4 * 1024 * 1024
/** Maximum number of escaped characters: enough for the longest text that a model reads, even if every character is escaped. */
const MAX_JSON_ESCAPES = 2 * 1024 * 1024
/** Maximum fields to check for duplicates. With more fields, the check would take longer than serialising. */
const MAX_COPIED_FIELDS = 2_000
const JSON_TYPE = 'application/json'
const decoder = new TextDecoder('utf-8', { fatal: true })

/**
 * Reads a request's JSON object within limits. Throws 415 for another content type or an encoded body, 413 above the byte limit (before
 * reading, if the length is announced), and 400 for text that is no JSON object, nested too deeply, or with too many values or names.
 */
export async function readJsonBody(
  request: Request,
  limits: BodyLimits,
  { maxValues = MAX_JSON_VALUES, onBytes, share }: BodyReading = {},
): Promise<JsonBody> {
  const bytes = await readBytes(request, limits.maxBodyBytes, JSON_TYPE, share)
  onBytes?.(bytes)
  const decoding = turnFor(bytes.length)
  if (decoding) await decoding
  const text = decode(bytes)
  const { values, fields, losesNumbers } = inspectBody(text, {
    depth: limits.maxJsonDepth,
    values: maxValues,
    names: MAX_JSON_NAMES,
    outside: MAX_JSON_OUTSIDE,
    escapes: MAX_JSON_ESCAPES,
  })
  const waiting = share?.beforeParse?.({ bytes: bytes.length, dearValues: losesNumbers ? values : fields })
  if (waiting) await waiting
  const parsing = turnFor(bytes.length)
  if (parsing) await parsing
  const json = parseBody(bytes, text, losesNumbers)
  if (losesNumbers && text.length > TURN_CHARS) await rememberNumbersInTurns(json, text)
  if (!isJsonObject(json)) throw new GatewayError('invalid_request', 'The body must be a JSON object.')
  const isCopyable = !losesNumbers && fields <= MAX_COPIED_FIELDS && text.includes('\\') && countFields(json) === fields
  const body: JsonBody = { json, bytes: bytes.length }
  if (isCopyable) body.text = text
  return body
}

/** Reads a body of the content type `type`, at most `maxBytes`. Throws like {@link readJsonBody}. */
export async function readBytes(
  request: Request,
  maxBytes: number,
  type: string,
  share: BodyReading['share'],
): Promise<Uint8Array<ArrayBuffer>> {
  const announced = checkHeaders(request.headers, maxBytes, type)
  const entering = share?.enter?.(announced ?? 0)
  if (entering) await entering
  let bytes: Uint8Array<ArrayBuffer>
  try {
    bytes = await (announced === undefined ? readPieces(request, maxBytes, share) : request.bytes())
  } catch (cause) {
    throw unreadable(request, cause)
  }
  noteWork(request.url)
  return bytes
}

/** The announced length of a body, if any. Throws 415 for another content type or an encoded body, and 413 above `maxBytes`. */
export function checkHeaders(headers: Headers, maxBytes: number, type: string): number | undefined {
  const contentType = headers.get('content-type') ?? ''
  if (contentType !== type && contentType.split(';', 1)[0]?.trim().toLowerCase() !== type) {
    throw new GatewayError('unsupported_media_type', `The Content-Type header must be '${type}'.`)
  }
  const encoding = headers.get('content-encoding')
  if (encoding !== null && encoding.toLowerCase() !== 'identity') {
    throw new GatewayError('unsupported_media_type', 'Compressed request bodies are not accepted.')
  }
  const length = headers.get('content-length')
  if (length === null) return undefined
  if (Number(length) > maxBytes) throw tooLarge(maxBytes)
  return Number(length)
}

async function readPieces(
  request: Request,
  maxBytes: number,
  share: BodyReading['share'],
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body ?? []) {
    size += chunk.length
    if (size > maxBytes) throw tooLarge(maxBytes)
    share?.grow?.(chunk.length)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** The error for a body that can't be read. If the client disconnected early, the error is the client's and gets no response. */
export function unreadable(request: Request, cause: unknown): unknown {
  if (cause instanceof GatewayError) return cause
  const message = request.signal.aborted
    ? 'The body ended before it was complete.'
    : 'The body ended before it was whole.'
  return new GatewayError('invalid_request', message, { cause })
}

const BREACHES: Readonly<Record<keyof JsonBounds, (bounds: JsonBounds) => string>> = {
  depth: ({ depth }) => `is nested deeper than ${depth} levels`,
  values: ({ values }) => `has more than ${values} values`,
  names: ({ names }) => `has more than ${names} different names of fields`,
  outside: ({ outside }) => `has more than ${outside} characters outside of its strings`,
  escapes: ({ escapes }) => `has more than ${escapes} escaped characters`,
}

function inspectBody(text: string, bounds: JsonBounds): ReturnType<typeof inspectJson> {
  const findings = inspectJson(text, bounds)
  const { breach } = findings
  if (breach !== undefined) {
    throw new GatewayError('invalid_request', `The JSON body ${BREACHES[breach](bounds)}.`)
  }
  return findings
}

function parseBody(bytes: Uint8Array, text: string, losesNumbers: boolean): JsonValue {
  try {
    const json = JSON.parse(text) as JsonValue
    if (text.length <= TURN_CHARS) rememberNumbers(json, text, losesNumbers)
    return json
  } catch (cause) {
    throw notJson(bytes, cause)
  }
}

function decode(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch (cause) {
    throw notJson(bytes, cause)
  }
}

function notJson(bytes: Uint8Array, cause: unknown): GatewayError {
  const message = bytes.length === 0 ? 'The body is empty; a JSON object is required.' : 'The body is not valid JSON.'
  return new GatewayError('invalid_request', message, { cause })
}

/** The error for a body above `maxBytes`. */
export function tooLarge(maxBytes: number): GatewayError {
  return new GatewayError('too_large', `The body exceeds the limit of ${maxBytes} bytes.`)
}
