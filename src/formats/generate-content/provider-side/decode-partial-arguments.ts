import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import { asWritten } from '@/lib/json-source/as-written'

export interface PartialArguments {
  apply(pieces: readonly JsonValue[]): void
  /** The arguments so far as JSON text. Pieces without a valid place are appended, so that the text is not valid JSON. */
  text(): string
}

type Container = JsonObject | JsonValue[]

/** Fields of a piece that contain no part of the argument. */
const SAYS_NOTHING: ReadonlySet<string> = new Set(['jsonPath', 'willContinue'])
/** Maximum depth of a path. A piece with a deeper path has no valid place. */
const MAX_SEGMENTS = 32

/** Assembles one call's arguments that are streamed in pieces with a JSON path. Texts at the same path are concatenated. */
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

/** An object without a prototype, so that `__proto__` in a path is an ordinary key. */
function createObject(): JsonObject {
  return Object.create(null)
}

/** `$.rooms[0]['name']` becomes `['rooms', 0, 'name']`; undefined for an invalid path. */
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

/** The object or list that contains the path's last segment; missing objects and lists are created. */
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

/** Lists grow by one item at a time, since a huge index would waste memory. */
function write(container: Container, segment: string | number, value: JsonValue): boolean {
  const before = read(container, segment)
  const whole = typeof before === 'string' && typeof value === 'string' ? before + value : value
  if (Array.isArray(container) !== (typeof segment === 'number')) return false
  if (!Array.isArray(container)) container[segment] = whole
  else if (typeof segment === 'number' && segment <= container.length) container[segment] = whole
  else return false
  return true
}
