/** Reads the lines of a batch's input file, and collects their faults. A file with a fault creates no batch. */
import type { NewLine } from '@/batches/types'
import { GatewayError } from '@/chat/error'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import { asWritten, rememberNumbers } from '@/lib/json-source/as-written'
import { inspectJson } from '@/lib/json-source/scan'
import { OWN_TURN_BYTES, ownTurn } from '@/lib/wait/own-turn'

export const MAX_LINES = 50_000
export const MAX_FILE_BYTES = 200 * 1024 * 1024
const MAX_ID_CHARS = 512
/** Maximum faults to report. After that many, the file is not checked any further. */
const MAX_FAULTS = 10
const MAX_VALUES = 120_000
const MAX_NAMES = 10_000
/** After this many short lines, other requests get a turn at the event loop. */
const LINES_PER_TURN = 50
const NEWLINE = 0x0a
/** Forbidden in a custom id, because the id is stored in Postgres and written into a file of lines. */
const CONTROL_CHARACTER = /\p{Cc}/u

/** A fault of a line; `line` counts from 1. */
export type LineFault = { line: number; code: string; message: string; param: string | null }

type LineDeps = {
  endpoint: string
  maxLineBytes: number
  maxDepth: number
  /** The request's model and maximum cost. Throws a GatewayError for a body that the endpoint can't answer. */
  check(body: JsonObject, bytes: number): Pick<NewLine, 'model' | 'most'>
}

/** The lines as requests. Throws `invalid_request` with the first ten faults. Other requests run in between. */
export async function* readInputLines(parts: AsyncIterable<Uint8Array>, deps: LineDeps): AsyncGenerator<NewLine> {
  const faults: LineFault[] = []
  const ids = new Map<string, number>()
  let lines = 0
  let bytesInTurn = 0
  for await (const { line, bytes } of splitLines(parts, deps.maxLineBytes)) {
    if (bytes?.length === 0) continue
    bytesInTurn += bytes?.length ?? 0
    if (++lines % LINES_PER_TURN === 0 || bytesInTurn > OWN_TURN_BYTES) {
      bytesInTurn = 0
      await ownTurn()
    }
    if (lines > MAX_LINES) {
      throw faultyInput([fault(line, 'too_many_lines', `the file has more than ${MAX_LINES} requests`)])
    }
    const read = bytes ? readLine(bytes, line, ids, deps) : tooLong(line, deps)
    if (!('code' in read)) {
      // After the first fault, lines are only checked, since no batch will be created.
      if (faults.length === 0) yield read
      continue
    }
    faults.push(read)
    if (faults.length === MAX_FAULTS) break
  }
  if (faults.length > 0) throw faultyInput(faults)
  if (lines === 0) throw faultyInput([fault(1, 'empty_file', 'the file has no requests')])
}

function tooLong(line: number, { maxLineBytes }: LineDeps): LineFault {
  return fault(line, 'line_too_long', `the line has more than ${maxLineBytes} bytes`)
}

/** The error for a file with faults, in OpenAI's form for errors of a batch. */
function faultyInput(faults: readonly LineFault[]): GatewayError {
  const told = faults.map(({ line, message }) => `Line ${line}: ${message}.`).join(' ')
  const data = faults.map((one): JsonObject => ({ ...one }))
  return new GatewayError('invalid_request', `No batch was made. ${told}`, {
    param: 'input_file_id',
    code: 'invalid_batch_input',
    details: { errors: { object: 'list', data } },
    ownWords: 'No batch was made: its input file has faults.',
  })
}

function fault(line: number, code: string, message: string, param: string | null = null): LineFault {
  return { line, code, message, param }
}

const decoder = new TextDecoder('utf-8', { fatal: true })

function readLine(bytes: Uint8Array, line: number, ids: Map<string, number>, deps: LineDeps): NewLine | LineFault {
  const json = parseLine(bytes, deps.maxDepth)
  if (json === undefined) return fault(line, 'invalid_json_line', 'this is not a JSON object')
  const { custom_id: customId, method, url, body } = json
  if (typeof customId !== 'string' || customId === '' || customId.length > MAX_ID_CHARS) {
    return fault(line, 'invalid_custom_id', `custom_id must be a text of 1 to ${MAX_ID_CHARS} characters`, 'custom_id')
  }
  if (CONTROL_CHARACTER.test(customId) || !customId.isWellFormed()) {
    return fault(line, 'invalid_custom_id', 'custom_id contains control characters', 'custom_id')
  }
  const earlier = ids.get(customId)
  if (earlier !== undefined) {
    return fault(line, 'duplicate_custom_id', `line ${earlier} has the same custom_id`, 'custom_id')
  }
  ids.set(customId, line)
  if (method !== 'POST') return fault(line, 'invalid_method', 'method must be POST', 'method')
  if (url !== deps.endpoint) return fault(line, 'invalid_url', `url must be ${deps.endpoint}, as of the batch`, 'url')
  if (!isJsonObject(body)) return fault(line, 'missing_required_parameter', 'body must be an object', 'body')
  try {
    const text = JSON.stringify(asWritten(body))
    return { customId, body: text, ...deps.check(body, Buffer.byteLength(text)) }
  } catch (error) {
    if (!(error instanceof GatewayError) || error.status >= 500) throw error
    return ofBody(line, error)
  }
}

/** An endpoint's error as the fault of a line. A full stop at its end is removed, since the list of faults adds one. */
function ofBody(line: number, { kind, message, options }: GatewayError): LineFault {
  const param = options.param === undefined ? 'body' : `body.${options.param}`
  return fault(line, options.code ?? kind, message.replace(/\.$/, ''), param)
}

/** A line's JSON object; undefined if the line is no JSON object, or exceeds the limits of a request body. */
export function parseLine(bytes: Uint8Array, maxDepth: number): JsonObject | undefined {
  try {
    const text = decoder.decode(bytes)
    const bounds = { depth: maxDepth + 1, values: MAX_VALUES, names: MAX_NAMES }
    const { breach, losesNumbers } = inspectJson(text, bounds)
    if (breach !== undefined) return undefined
    const json = JSON.parse(text) as JsonValue
    rememberNumbers(json, text, losesNumbers)
    return isJsonObject(json) ? json : undefined
  } catch {
    return undefined
  }
}

type RawLine = { line: number; bytes: Uint8Array | undefined }

/** The lines of the file without line breaks. `bytes` is undefined if the line is longer than allowed. */
async function* splitLines(parts: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<RawLine> {
  let pieces: Uint8Array[] = []
  let size = 0
  let line = 1
  const take = (piece: Uint8Array) => {
    size += piece.length
    if (size <= maxBytes) pieces.push(piece)
    else pieces = []
  }
  const end = (): RawLine => {
    const whole = size > maxBytes ? undefined : trimmed(Buffer.concat(pieces))
    pieces = []
    size = 0
    return { line: line++, bytes: whole }
  }
  for await (const part of parts) {
    let from = 0
    for (let at = part.indexOf(NEWLINE); at !== -1; at = part.indexOf(NEWLINE, from)) {
      take(part.subarray(from, at))
      from = at + 1
      yield end()
    }
    take(part.subarray(from))
  }
  if (size > 0) yield end()
}

/** The line without spaces and carriage returns at both ends, so that a blank line becomes empty. */
function trimmed(bytes: Buffer): Uint8Array {
  let start = 0
  let end = bytes.length
  while (end > start && (bytes[end - 1] ?? 0) <= 0x20) end--
  while (start < end && (bytes[start] ?? 0) <= 0x20) start++
  return bytes.subarray(start, end)
}
