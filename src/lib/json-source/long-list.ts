/** The one long list of an answer: found unparsed, or parsed in several ticks, so that megabytes don't block other requests. */
import { isJsonObject, type JsonObject, parseJson } from '@/lib/json'
import { OWN_TURN_BYTES, ownTurn } from '@/lib/wait/own-turn'

/** The object around the list, with the list empty, and the bytes between its brackets. */
type UnreadList = { around: JsonObject; inside: Uint8Array }

/** The result for each entry, and the answer with the list empty. */
type ListRead<Entry> = { entries: Entry[]; around: JsonObject }

/** The result for one entry; undefined if invalid. */
type ReadEntry<Entry> = (entry: JsonObject) => Entry | undefined

const PART_BYTES = 128 * 1024
const OPENING = 0x5b
const CLOSING = 0x5d
const MAX_AROUND_BYTES = 64 * 1024
const OPENING_BRACE = 0x7b
const CLOSING_BRACE = 0x7d
const COMMA = 0x2c
const LAST_WHITE_SPACE = 0x20

const decoder = new TextDecoder()

/** The bytes that are presumably the list at `field` of the object in `bytes`, unchecked. Undefined if there is surely no such list. */
export function findUnreadList(bytes: Uint8Array, field: string): UnreadList | undefined {
  const start = bytes.indexOf(OPENING)
  const end = bytes.lastIndexOf(CLOSING)
  if (start === -1 || end < start || start + bytes.length - end > MAX_AROUND_BYTES) return undefined
  const text = `${decoder.decode(bytes.subarray(0, start))}[]${decoder.decode(bytes.subarray(end + 1))}`
  const around = parseJson(text)
  if (!isJsonObject(around)) return undefined
  const list = around[field]
  if (!Array.isArray(list) || list.length > 0) return undefined
  return { around, inside: bytes.subarray(start + 1, end) }
}

/** The results for the list at `field` of the answer in `bytes`. Undefined if there is no such list, or it has invalid entries. */
export async function readList<Entry>(
  bytes: Uint8Array,
  field: string,
  read: ReadEntry<Entry>,
): Promise<ListRead<Entry> | undefined> {
  const inTurns = bytes.length > OWN_TURN_BYTES ? await readParts(bytes, field, read) : undefined
  if (inTurns) return inTurns
  const around = parseJson(decoder.decode(bytes))
  const list = isJsonObject(around) ? around[field] : undefined
  const entries = Array.isArray(list) ? readEntries(list, read) : undefined
  return entries && isJsonObject(around) ? { entries, around } : undefined
}

/**
 * Reads the list in parts: if each part is a valid list, the whole is one too. Undefined if a part is invalid: it was split at a wrong
 * place, or is not JSON.
 */
async function readParts<Entry>(
  bytes: Uint8Array,
  field: string,
  read: ReadEntry<Entry>,
): Promise<ListRead<Entry> | undefined> {
  const found = findUnreadList(bytes, field)
  if (!found) return undefined
  const { inside, around } = found
  const all: Entry[] = []
  for (let start = 0; start <= inside.length; ) {
    await ownTurn()
    const end = endOfPart(inside, start + PART_BYTES)
    const list = parseJson(`[${decoder.decode(inside.subarray(start, end))}]`)
    const entries = Array.isArray(list) ? readEntries(list, read) : undefined
    if (!entries) return undefined
    for (const entry of entries) all.push(entry)
    start = end + 1
  }
  return { entries: all, around }
}

function readEntries<Entry>(list: readonly unknown[], read: ReadEntry<Entry>): Entry[] | undefined {
  const entries: Entry[] = []
  for (const each of list) {
    const entry = isJsonObject(each) ? read(each) : undefined
    if (entry === undefined) return undefined
    entries.push(entry)
  }
  return entries
}

/** The position of the first comma between two objects after `from`, or the end of the list. */
function endOfPart(inside: Uint8Array, from: number): number {
  for (
    let brace = inside.indexOf(CLOSING_BRACE, from);
    brace !== -1;
    brace = inside.indexOf(CLOSING_BRACE, brace + 1)
  ) {
    const comma = pastWhiteSpace(inside, brace + 1)
    if (inside[comma] === COMMA && inside[pastWhiteSpace(inside, comma + 1)] === OPENING_BRACE) return comma
  }
  return inside.length
}

function pastWhiteSpace(inside: Uint8Array, from: number): number {
  let at = from
  while (at < inside.length && (inside[at] ?? 0) <= LAST_WHITE_SPACE) at++
  return at
}
