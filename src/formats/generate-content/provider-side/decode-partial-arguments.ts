/** Puts together the function arguments that some generate-content providers stream by JSON path, piece by piece. */

import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import { asWritten } from '@/lib/json-source/as-written'

export interface PartialArguments {
  /** Applies a list of `{jsonPath, stringValue | numberValue | boolValue | nullValue}`. */
  apply(pieces: readonly JsonValue[]): void
  /** The arguments so far as JSON text; what has no place in them stands behind it, so that they don't pass for whole. */
  text(): string
}

type Container = JsonObject | JsonValue[]

/** Fields of position and continuation, without a value. */
const SAYS_NOTHING: ReadonlySet<string> = new Set(['jsonPath', 'willContinue'])
/** The deepest path that is followed; a deeper piece has no place. */
const MAX_SEGMENTS = 32

/** Creates the arguments of one call. Texts at the same path add up. */
export function createPartialArguments(): PartialArguments {
  const root = createObject()
  const unplaced: JsonValue[] = []

  function applyPiece(piece: JsonValue): boolean {
    if (!isJsonObject(piece)) return false
    if (Object.keys(piece).every((name) => SAYS_NOTHING.has(name))) return true
    const path = typeof piece.jsonPath === 'string' ? parsePath(piece.jsonPath) : undefined
    const value = pieceValue(piece)
    const last = path?.at(-1)
    if (!path || last === undefined || value === undefined) return false
    const container = containerAt(root, path)
    return container !== undefined && write(container, last, value)
  }

  return {
    apply(pieces) {
      for (const piece of pieces) if (!applyPiece(piece)) unplaced.push(piece)
    },
    text: () => JSON.stringify(root) + (unplaced.length === 0 ? '' : JSON.stringify(asWritten(unplaced))),
  }
}

/** Without a prototype, so that a path through `__proto__` is a key like any other. */
function createObject(): JsonObject {
  return Object.create(null)
}

/** `$.rooms[0]['name']` as `['rooms', 0, 'name']`; undefined if it is no such path. */
function parsePath(path: string): (string | number)[] | undefined {
  const segments: (string | number)[] = []
  const pattern = /\.([^.[\]]+)|\[(\d{1,6})\]|\['([^']*)'\]|\["([^"]*)"\]/y
  pattern.lastIndex = 1
  if (path[0] !== '$') return undefined
  while (pattern.lastIndex < path.length && segments.length < MAX_SEGMENTS) {
    const match = pattern.exec(path)
    if (!match) return undefined
    segments.push(match[2] === undefined ? (match[1] ?? match[3] ?? match[4] ?? '') : Number(match[2]))
  }
  return pattern.lastIndex < path.length ? undefined : segments
}

function pieceValue(piece: JsonObject): JsonValue | undefined {
  if (typeof piece.stringValue === 'string') return piece.stringValue
  if (typeof piece.numberValue === 'number') return asWritten(piece).numberValue
  if (typeof piece.boolValue === 'boolean') return piece.boolValue
  return piece.nullValue === undefined ? undefined : null
}

/** Walks to the object or list that holds the path's last segment, and makes what is missing on the way. */
function containerAt(root: JsonObject, path: readonly (string | number)[]): Container | undefined {
  let container: Container = root
  for (const [index, segment] of path.slice(0, -1).entries()) {
    const next = read(container, segment)
    if (next === undefined) {
      const made: Container = typeof path[index + 1] === 'number' ? [] : createObject()
      if (!write(container, segment, made)) return undefined
      container = made
    } else if (Array.isArray(next) || isJsonObject(next)) container = next
    else return undefined
  }
  return container
}

function read(container: Container, segment: string | number): JsonValue | undefined {
  if (Array.isArray(container)) return typeof segment === 'number' ? container[segment] : undefined
  return container[segment]
}

/** A list grows by one at a time: an index far beyond its end would cost memory for nothing. */
function write(container: Container, segment: string | number, value: JsonValue): boolean {
  const before = read(container, segment)
  const whole = typeof before === 'string' && typeof value === 'string' ? before + value : value
  if (Array.isArray(container) !== (typeof segment === 'number')) return false
  if (!Array.isArray(container)) container[segment] = whole
  else if (typeof segment === 'number' && segment <= container.length) container[segment] = whole
  else return false
  return true
}
