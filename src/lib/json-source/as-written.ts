/**
 * Keeps numbers as they are written on their way from one JSON text into another: JSON.parse reads `1098765432109876543`, `1.0` and
 * `-0` as doubles, of which JSON.stringify makes `1098765432109876500`, `1` and `0`.
 *
 * Code that reads a number gets the double, as usual; code that relays a value takes it {@link asWritten}: there such numbers are
 * raw texts, which JSON.stringify writes as they are. Texts without such a number, nearly all, are looked through and no more.
 */
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  PARSED_BOUNDS,
  parseJson,
  parseWithinBounds,
  rawJson,
} from '@/lib/json'
import { ownTurn } from '@/lib/wait/own-turn'
import { endOfNumber, endOfString, inspectJson, isNumberStart } from './scan'

type Container = JsonObject | JsonValue[]

/** Of each array and object that holds such a number at any depth, the same with raw texts in place of these. */
const written = new WeakMap<object, Container>()

/** `value` to be relayed: as it was written, where that was remembered and differs, else itself. */
export function asWritten<Value extends JsonValue | undefined>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value
  return (written.get(value) as Value | undefined) ?? value
}

/** A copy of `object` with `changes`, to be written as its parts are. */
export function withChanges(object: JsonObject, changes: JsonObject): JsonObject {
  return likeItsParts({ ...object, ...changes }, { ...asWritten(object), ...eachAsWritten(changes) })
}

/** One array of `items`, likewise. */
export function arrayOf(items: readonly JsonValue[]): JsonValue[] {
  return likeItsParts([...items], items.map(asWritten))
}

function eachAsWritten(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, asWritten(value)]))
}

function likeItsParts<Whole extends Container>(whole: Whole, twin: Whole): Whole {
  const parts = Object.values(whole)
  if (Object.values(twin).some((part, index) => !Object.is(part, parts[index]))) written.set(whole, twin)
  return whole
}

/** Parses what is only relayed: as parseJson, but for numbers that would not be written as they are read. */
export function parseAsWritten(text: string): JsonValue | undefined {
  const { breach, losesNumbers } = inspectJson(text, PARSED_BOUNDS)
  const value = breach === undefined ? parseWithinBounds(text) : undefined
  if (!losesNumbers || value === undefined) return value
  if (typeof value === 'number') return rawJson.rawJSON(text.trim())
  // It is not shared yet.
  if (typeof value === 'object' && value !== null) walkOn(walkOf(value, text), text.length, itself)
  return value
}

/** The number that `value` is, also as it was written; undefined if it is none. */
export function numberOf(value: JsonValue | undefined): number | undefined {
  if (typeof value === 'number') return value
  return rawJson.isRawJSON(value) ? Number((value as JsonObject).rawJSON) : undefined
}

function losesNumbers(text: string): boolean {
  return inspectJson(text, NO_BOUNDS).losesNumbers
}

const NO_BOUNDS = { depth: Number.POSITIVE_INFINITY, values: Number.POSITIVE_INFINITY }

/** An array or object that the walk through the text is in. */
type Place = {
  isArray: boolean
  /** Which item of an array the walk is at; between which quotes the name of an object's field stands. */
  index: number
  nameStart: number
  nameEnd: number
  isNameNext: boolean
  /** The parsed container; null if a later field of the same name replaced it, undefined until it is searched. */
  parsed: Container | null | undefined
  /** The same as it is written, once it differs and is another. */
  twin: Container | undefined
}

/**
 * Remembers how `text` writes the numbers of `value`, which was parsed from it. {@link asWritten} then writes the same numbers,
 * digit by digit. Linear in the length. `isNeeded`: the text was searched already.
 */
export function rememberNumbers(value: JsonValue | undefined, text: string, isNeeded = losesNumbers(text)): void {
  if (isNeeded && typeof value === 'object' && value !== null) walkOn(walkOf(value, text), text.length, twinAt)
}

/** The same of a text that has such numbers, with a turn for everything else after each {@link TURN_CHARS} of it. */
export async function rememberNumbersInTurns(value: JsonValue, text: string): Promise<void> {
  if (typeof value !== 'object' || value === null) return
  const walk = walkOf(value, text)
  while (walk.index < text.length) {
    walkOn(walk, walk.index + TURN_CHARS, twinAt)
    await ownTurn()
  }
}

/** So many characters are looked through in some twenty milliseconds, if all of them are numbers that have to be kept. */
export const TURN_CHARS = 128 * 1024

/** Which array or object is given a number as it is written, where `parsed` was parsed at `depth`. */
type HolderAt = (walk: Walk, depth: number, parsed: Container) => Container

/** The position of the walk, and its text. */
type Walk = { readonly root: Container; readonly text: string; readonly places: Place[]; depth: number; index: number }

function walkOf(root: Container, text: string): Walk {
  return { root, text, places: [], depth: -1, index: 0 }
}

/** Goes on to the first token that begins at `until` or behind it. */
function walkOn(walk: Walk, until: number, holderAt: HolderAt): void {
  const { text, places } = walk
  const end = Math.min(until, text.length)
  let { index } = walk
  for (; index < end; index++) {
    const character = text.charAt(index)
    const place = places[walk.depth]
    switch (character) {
      case '"': {
        const quoteEnd = endOfString(text, index + 1)
        if (place?.isNameNext) {
          place.nameStart = index
          place.nameEnd = quoteEnd
        }
        index = quoteEnd - 1
        break
      }
      case '{':
      case '[':
        enter(places, ++walk.depth, character === '[')
        break
      case '}':
      case ']':
        walk.depth--
        break
      case ':':
        if (place) place.isNameNext = false
        break
      case ',':
        if (place) {
          place.index++
          place.isNameNext = !place.isArray
        }
        break
      default:
        if (isNumberStart(text.charCodeAt(index))) {
          const numberEnd = endOfNumber(text, index)
          if (numberEnd < 0) keep(text.slice(index, -numberEnd), walk, holderAt)
          index = Math.abs(numberEnd) - 1
        }
    }
  }
  walk.index = index
}

/** Places are used again: a text has many arrays and objects, but few inside each other. */
function enter(places: Place[], depth: number, isArray: boolean): void {
  places[depth] ??= {
    isArray,
    index: 0,
    nameStart: 0,
    nameEnd: 0,
    isNameNext: false,
    parsed: undefined,
    twin: undefined,
  }
  const place = places[depth]
  place.isArray = isArray
  place.isNameNext = !isArray
  place.index = 0
  place.parsed = undefined
  place.twin = undefined
}

/** Keeps the number `token`, unless it is not what was parsed there. */
function keep(token: string, walk: Walk, holderAt: HolderAt): void {
  const container = parsedAt(walk, walk.depth)
  if (!container) return
  const key = keyAt(walk, walk.depth)
  // What every object has under some name is no number.
  if (!Object.is(numberOf((container as JsonObject)[key]), Number(token))) return
  setItem(holderAt(walk, walk.depth, container), key, rawJson.rawJSON(token))
}

/** What was parsed of the array or object at `depth`. */
function parsedAt(walk: Walk, depth: number): Container | null {
  const place = walk.places[depth]
  if (!place) return null
  if (place.parsed !== undefined) return place.parsed
  const outer = depth === 0 ? null : parsedAt(walk, depth - 1)
  const found = depth === 0 ? walk.root : outer && itemOf(outer, keyAt(walk, depth - 1))
  const isSame = place.isArray ? Array.isArray(found) : isJsonObject(found)
  place.parsed = isSame ? (found as Container) : null
  return place.parsed
}

function itself(_walk: Walk, _depth: number, parsed: Container): Container {
  return parsed
}

/** A copy of `parsed`, which the copies of all those around it hold in its place. */
function twinAt(walk: Walk, depth: number, parsed: Container): Container {
  const place = walk.places[depth]
  if (place?.twin) return place.twin
  const copy = written.get(parsed) ?? (Array.isArray(parsed) ? parsed.slice() : { ...parsed })
  written.set(parsed, copy)
  if (place) place.twin = copy
  const outer = depth === 0 ? null : parsedAt(walk, depth - 1)
  if (outer) setItem(twinAt(walk, depth - 1, outer), keyAt(walk, depth - 1), copy)
  return copy
}

/** The index, or the name, at which the walk is in the array or object at `depth`. */
function keyAt({ places, text }: Walk, depth: number): string | number {
  const place = places[depth]
  if (!place) return ''
  return place.isArray ? place.index : readString(text, place.nameStart, place.nameEnd)
}

/** The string between these quotes. */
function readString(text: string, start: number, end: number): string {
  const plain = text.slice(start + 1, end - 1)
  return plain.includes('\\') ? String(parseJson(text.slice(start, end))) : plain
}

function itemOf(container: Container, key: string | number): JsonValue | undefined {
  if (Array.isArray(container)) return container[Number(key)]
  return Object.hasOwn(container, key) ? container[key] : undefined
}

/** Only for what the container has: JSON.parse makes an own field even of `__proto__`, to which one may assign. */
function setItem(container: Container, key: string | number, value: JsonValue): void {
  ;(container as JsonObject)[key] = value
}
