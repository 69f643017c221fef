/** Reads a JSON request body within limits, before anything is parsed from it. */
import { GatewayError } from '@/chat/error'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import { rememberNumbers } from '@/lib/json-source/as-written'
import { inspectJson, type JsonBounds } from '@/lib/json-source/scan'
import { noteWork } from '@/metrics/work-log'

type JsonBody = { json: JsonObject; bytes: number }

export type BodyLimits = {
  maxBodyBytes: number
  /** Arrays and objects inside each other. */
  maxJsonDepth: number
}

/** Far more than any conversation holds. A body that is nothing but values would take the processor for a second. */
const MAX_JSON_VALUES = 250_000
const JSON_TYPE = 'application/json'
const decoder = new TextDecoder('utf-8', { fatal: true })

/**
 * The request's JSON object. Throws 415 for another content type or an encoded body, 413 above the byte limit (before the
 * body is read, where its length is announced), and 400 for text that is no JSON, no object, nested too deep, or of too many values.
 * `onBytes` sees the body as it came.
 */
export async function readJsonBody(
  request: Request,
  limits: BodyLimits,
  maxValues = MAX_JSON_VALUES,
  onBytes?: (bytes: Uint8Array) => void,
): Promise<JsonBody> {
  checkHeaders(request.headers, limits.maxBodyBytes)
  const bytes = await readBytes(request, limits.maxBodyBytes)
  noteWork(request.url)
  onBytes?.(bytes)
  const json = parseBody(bytes, { depth: limits.maxJsonDepth, values: maxValues })
  if (!isJsonObject(json)) throw new GatewayError('invalid_request', 'The body must be a JSON object.')
  return { json, bytes: bytes.length }
}

function checkHeaders(headers: Headers, maxBytes: number): void {
  const contentType = headers.get('content-type') ?? ''
  if (contentType !== JSON_TYPE && contentType.split(';', 1)[0]?.trim().toLowerCase() !== JSON_TYPE) {
    throw new GatewayError('unsupported_media_type', "The Content-Type header must be 'application/json'.")
  }
  const encoding = headers.get('content-encoding')
  if (encoding !== null && encoding.toLowerCase() !== 'identity') {
    throw new GatewayError('unsupported_media_type', 'Compressed request bodies are not accepted.')
  }
  if (Number(headers.get('content-length') ?? 0) > maxBytes) throw tooLarge(maxBytes)
}

/** Whoever goes away before his request is whole gets no answer; it is his fault all the same, and none of ours. */
async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array> {
  try {
    return await takeBytes(request, maxBytes)
  } catch (cause) {
    if (cause instanceof GatewayError) throw cause
    throw new GatewayError('invalid_request', 'The body ended before it was whole.', { cause })
  }
}

async function takeBytes(request: Request, maxBytes: number): Promise<Uint8Array> {
  try {
    if (request.headers.has('content-length')) return await request.bytes()
    const chunks: Uint8Array[] = []
    let size = 0
    for await (const chunk of request.body ?? []) {
      size += chunk.length
      if (size > maxBytes) throw tooLarge(maxBytes)
      chunks.push(chunk)
    }
    return Buffer.concat(chunks)
  } catch (cause) {
    if (!request.signal.aborted) throw cause
    // Nobody is left to read this; it keeps the log from calling a hang-up a bug.
    throw new GatewayError('invalid_request', 'The body ended before it was complete.', { cause })
  }
}

function parseBody(bytes: Uint8Array, bounds: JsonBounds): JsonValue {
  const text = decode(bytes)
  const { breach, losesNumbers } = inspectJson(text, bounds)
  if (breach !== undefined) {
    const limit =
      breach === 'depth' ? `is nested deeper than ${bounds.depth} levels` : `holds more than ${bounds.values} values`
    throw new GatewayError('invalid_request', `The JSON body ${limit}.`)
  }
  try {
    const json = JSON.parse(text) as JsonValue
    rememberNumbers(json, text, losesNumbers)
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

function tooLarge(maxBytes: number): GatewayError {
  return new GatewayError('too_large', `The body exceeds the limit of ${maxBytes} bytes.`)
}
