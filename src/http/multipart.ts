/** Reads forms with files (`multipart/form-data`) within limits: texts as a JSON object, and files by their field. */
import { createHash } from 'node:crypto'
import { GatewayError, invalidRequest } from '@/chat/error'
import { boundaryOf } from '@/http/batches/multipart'
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '@/lib/json'
import { turnFor } from '@/lib/wait/own-turn'
import { type BodyReading, type JsonBody, readBytes } from './body'

const FORM_TYPE = 'multipart/form-data'
const MAX_PARTS = 256
const MAX_NAME_CHARS = 256
/** Maximum characters of a text field: far more than the longest prompt. */
const MAX_TEXT_CHARS = 256 * 1024
const MAX_DEPTH = 8
/** The field with the caller's preferences, whose values are not texts. */
const PREFERENCES = 'svc'

/**
 * Reads a form of at most `maxBytes`. `name[]` is a list, `name[field]` an object. Throws 415 for another content type, 413 above the limit,
 * and 400 for a body that is no form, or has too many parts or too long texts.
 */
export async function readForm(
  request: Request,
  maxBytes: number,
  { onBytes, share }: BodyReading = {},
): Promise<JsonBody> {
  const bytes = await readBytes(request, maxBytes, FORM_TYPE, share)
  const type = request.headers.get('content-type') ?? ''
  const parsing = turnFor(bytes.length)
  if (parsing) await parsing
  checkParts(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), boundaryOf(request.headers))
  const form = await parse(bytes, type)
  const json: JsonObject = {}
  const files = new Map<string, File[]>()
  const digest = onBytes && createHash('sha256')
  let chars = 0
  for (const [name, value] of form) {
    if (name.length > MAX_NAME_CHARS) throw invalidRequest(`A field's name has more than ${MAX_NAME_CHARS} characters.`)
    if (typeof value === 'string') {
      chars += value.length
      if (chars > MAX_TEXT_CHARS)
        throw invalidRequest(`${name}: the texts have more than ${MAX_TEXT_CHARS} characters.`, name)
      setField(json, name, value)
      digest?.update(JSON.stringify([name, value]))
      continue
    }
    const field = name.replace(/\[\d*\]$/, '')
    files.set(field, [...(files.get(field) ?? []), value])
    digest?.update(JSON.stringify([name, value.name, value.type, value.size])).update(await value.bytes())
  }
  // Libraries choose a new boundary for each repetition, so only the content identifies the request.
  if (digest) onBytes?.(digest.digest())
  return { json, bytes: bytes.length, files }
}

function checkParts(bytes: Buffer, boundary: string): void {
  const line = Buffer.from(`--${boundary}`)
  let parts = 0
  for (let at = bytes.indexOf(line); at !== -1; at = bytes.indexOf(line, at + line.length)) {
    // One more than the limit: the last delimiter begins no part, but ends the form.
    if (++parts > MAX_PARTS + 1) throw invalidRequest(`The form has more than ${MAX_PARTS} parts.`)
  }
}

async function parse(bytes: Uint8Array<ArrayBuffer>, type: string): Promise<FormData> {
  try {
    return await new Response(bytes, { headers: { 'content-type': type } }).formData()
  } catch (cause) {
    const message = bytes.length === 0 ? 'The body is empty; a form is required.' : 'The body is not a valid form.'
    throw new GatewayError('invalid_request', message, { cause })
  }
}

/** Sets `a`, `a[]`, `a[b]` or `a[b][]`, as client libraries write lists and objects. */
function setField(json: JsonObject, name: string, text: string): void {
  const [first = '', ...rest] = name.split('[').map((part) => part.replace(/\]$/, ''))
  if (rest.length > MAX_DEPTH) throw invalidRequest(`${name}: nested deeper than ${MAX_DEPTH} levels`, name)
  const value: JsonValue = first === PREFERENCES ? (parseJson(text) ?? text) : text
  put(json, [first, ...rest], value, name)
}

function put(object: JsonObject, [first = '', ...rest]: readonly string[], value: JsonValue, name: string): void {
  const before = Object.hasOwn(object, first) ? object[first] : undefined
  if (rest.length === 0) {
    if (before !== undefined) throw invalidRequest(`${name} is given twice`, name)
    define(object, first, value)
  } else if (rest.length === 1 && /^\d*$/.test(rest[0] ?? '')) {
    if (before !== undefined && !Array.isArray(before)) throw invalidRequest(`${name} is given twice`, name)
    define(object, first, [...(before ?? []), value])
  } else {
    if (before !== undefined && !isJsonObject(before)) throw invalidRequest(`${name} is given twice`, name)
    const inner = before ?? {}
    define(object, first, inner)
    put(inner, rest, value, name)
  }
}

/** Sets a field even if its name is inherited by objects, such as `__proto__`. */
function define(object: JsonObject, field: string, value: JsonValue): void {
  Object.defineProperty(object, field, { value, enumerable: true, configurable: true, writable: true })
}
