/**
 * Preserves the spelling of numbers from one JSON text to another. JSON.parse reads `1098765432109876543`, `1.0` and `-0` as doubles, which
 * JSON.stringify writes as `1098765432109876500`, `1` and `0`. Code that reads a number gets the double; code that relays a value calls
 * {@link asWritten}, which has raw texts instead of such numbers. Most texts have no such number, and are only scanned.
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

/** The copies with raw texts, for arrays and objects that contain a number whose spelling would change. */
const written = new WeakMap<object, Container>()

/** The copy of `value` with raw texts if there is one, otherwise `value`. */
export function asWritten<Value extends JsonValue | undefined>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value
  return (written.get(value) as Value | undefined) ?? value
}

/** A copy of `object` with `changes` that keeps the spelling of all numbers. */
export function withChanges(object: JsonObject, changes: JsonObject): JsonObject {
  return likeItsParts({ ...object, ...changes }, { ...asWritten(object), ...eachAsWritten(changes) })
}

/** An array of `items` that keeps the spelling of all numbers. */
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

/** Parses a value that is only relayed, and keeps the spelling of its numbers. */
export function parseAsWritten(text: string): JsonValue | undefined {
  const { breach, losesNumbers } = inspectJson(text, PARSED_BOUNDS)
  const value = breach === undefined ? parseWithinBounds(text) : undefined
  if (!losesNumbers || value === undefined) return value
  if (typeof value === 'number') return rawJson.rawJSON(text.trim())
  // The value isn't shared yet, so it can be changed.
  if (typeof value === 'object' && value !== null) walkOn(walkOf(value, text), text.length, itself)
  return value
}

/** A number, also if `value` is a raw text; otherwise undefined. */
export function numberOf(value: JsonValue | undefined): number | undefined {
  if (typeof value === 'number') return value
  return rawJson.isRawJSON(value) ? Number((value as JsonObject).rawJSON) : undefined
}

function losesNumbers(text: string): boolean {
  return inspectJson(text, NO_BOUNDS).losesNumbers
}

const NO_BOUNDS = { depth: Number.POSITIVE_INFINITY, values: Number.POSITIVE_INFINITY }

type Place = {
  isArray: boolean
  /** The current index in an array, or the positions of the quotes around an object's current field name. */
  index: number
  nameStart: number
  nameEnd: number
  isNameNext: boolean
  /** The parsed container; null if a later field of the same name replaced it; undefined until looked up. */
  parsed: Container | null | undefined
  /** The copy with raw texts, if different. */
  twin: Container | undefined
}

/** Remembers the spelling of `text`'s numbers for {@link asWritten} of `value`. Linear. `isNeeded`: the result of an earlier scan. */
export function rememberNumbers(value: JsonValue | undefined, text: string, isNeeded = losesNumbers(text)): void {
  if (isNeeded && typeof value === 'object' && value !== null) walkOn(walkOf(value, text), text.length, twinAt)
}

/** Like {@link rememberNumbers}, but lets other work run after every {@link TURN_CHARS} characters. */
export async function rememberNumbersInTurns(value: JsonValue, text: string): Promise<void> {
  if (typeof value !== 'object' || value === null) return
  const walk = walkOf(value, text)
  while (walk.index < text.length) {
    walkOn(walk, walk.index + TURN_CHARS, twinAt)
    await ownTurn()
  }
}

/** This many characters take about twenty milliseconds if all are numbers to remember. */
export const TURN_CHARS = 128 * 1024

/** Returns the array or object that gets the raw texts: `parsed` itself, or its copy. */
type HolderAt = (walk: Walk, depth: number, parsed: Container) => Container

type Walk = { readonly root: Container; readonly text: string; readonly places: Place[]; depth: number; index: number }

function walkOf(root: Container, text: string): Walk {
  return { root, text, places: [], depth: -1, index: 0 }
}

/** Continues the walk to the first token at or after `until`. */
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

/** Enters an array or object. Reuses the place of its depth, since a text has little nesting. */
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

/** Remembers the spelling of the number `token`, unless the parsed value at this place differs. */
function keep(token: string, walk: Walk, holderAt: HolderAt): void {
  const container = parsedAt(walk, walk.depth)
  if (!container) return
  const key = keyAt(walk, walk.depth)
  // An inherited property isn't a number.
  if (!Object.is(numberOf((container as JsonObject)[key]), Number(token))) return
  setItem(holderAt(walk, walk.depth, container), key, rawJson.rawJSON(token))
}

/** The parsed array or object at `depth`. */
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

/** The copy of `parsed`, as part of the copies of all its parents. */
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

function keyAt({ places, text }: Walk, depth: number): string | number {
  const place = places[depth]
  if (!place) return ''
  return place.isArray ? place.index : readString(text, place.nameStart, place.nameEnd)
}

function readString(text: string, start: number, end: number): string {
  const plain = text.slice(start + 1, end - 1)
  return plain.includes('\\') ? String(parseJson(text.slice(start, end))) : plain
}

function itemOf(container: Container, key: string | number): JsonValue | undefined {
  if (Array.isArray(container)) return container[Number(key)]
  return Object.hasOwn(container, key) ? container[key] : undefined
}

/** Sets only an own property: JSON.parse makes one even for `__proto__`, so assigning it is safe. */
function setItem(container: Container, key: string | number, value: JsonValue): void {
  ;(container as JsonObject)[key] = value
}
