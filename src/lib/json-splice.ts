/** Changes single values inside JSON text without touching any other byte. */

import { type JsonObject, type JsonValue, parseJson } from './json'
import { endOfString } from './json-source/scan'

/** Replaces the string at `path` by `value`; `text` itself where it holds none. Linear. */
export function replaceStringInJson(text: string, path: readonly string[], value: string): string {
  const span = findStringSpan(text, path)
  return span ? text.slice(0, span.start) + JSON.stringify(value) + text.slice(span.end) : text
}

/**
 * `text`, which is `before` as JSON, as that of `after`, whose other fields are written anew; undefined where one of `before` is gone.
 * Fields that are the same value are the same. Each name has to stand once in `text`. Linear.
 */
export function copyJson(text: string, before: JsonObject, after: JsonObject): string | undefined {
  let copy = ''
  let from = 0
  for (const name of Object.keys(before)) if (!Object.hasOwn(after, name) || after[name] === undefined) return undefined
  const end = eachField(text, 0, (name, valueStart, valueEnd) => {
    if (after[name] === before[name]) return
    copy += text.slice(from, valueStart) + JSON.stringify(after[name])
    from = valueEnd
  })
  let added = ''
  for (const [name, value] of Object.entries(after))
    if (value !== undefined && !Object.hasOwn(before, name))
      added += `,${JSON.stringify(name)}:${JSON.stringify(value)}`
  return copy + text.slice(from, end) + added + text.slice(end)
}

/** What is to stand at `path`; undefined removes it. `text` is the value as JSON, where known. */
export type JsonEdit = { path: readonly (string | number)[]; value: JsonValue | undefined; text?: string }

/** Returns `text` with the edits made; missing names are added at the end. Linear for each level of the paths. */
export function editJson(text: string, edits: readonly JsonEdit[], depth = 0): string {
  const start = skipSpace(text, 0)
  const isObject = text[start] === '{'
  if (!isObject && text[start] !== '[') return text
  const members: string[] = []
  const missing = new Set(edits)
  let at = start + 1
  let end = skipSpace(text, at)
  for (let place = 0; !isClosing(text, end); place++) {
    const keyStart = skipSpace(text, at)
    const keyEnd = isObject ? endOfString(text, keyStart + 1) : keyStart
    const name = isObject ? parseJson(text.slice(keyStart, keyEnd)) : place
    const valueStart = isObject ? skipSpace(text, skipSpace(text, keyEnd) + 1) : keyStart
    const valueEnd = endOfValue(text, valueStart)
    const own = edits.filter(({ path }) => path[depth] === name)
    for (const edit of own) missing.delete(edit)
    const fresh = editValue(text.slice(valueStart, valueEnd), own, depth + 1)
    end = skipSpace(text, valueEnd)
    if (fresh !== undefined) members.push(text.slice(at, valueStart) + fresh + text.slice(valueEnd, end))
    if (text[end] === ',') at = end + 1
  }
  for (const { path, value, text: written } of missing) {
    if (path.length !== depth + 1 || value === undefined) continue
    const fresh = written ?? JSON.stringify(value)
    members.push(isObject ? `${JSON.stringify(path[depth])}:${fresh}` : fresh)
  }
  return text.slice(0, start + 1) + members.join(',') + text.slice(end)
}

/** Undefined where the value is to go. */
function editValue(text: string, edits: readonly JsonEdit[], depth: number): string | undefined {
  if (edits.length === 0) return text
  const whole = edits.findLast(({ path }) => path.length === depth)
  if (!whole) return editJson(text, edits, depth)
  return whole.value === undefined ? undefined : (whole.text ?? JSON.stringify(whole.value))
}

/** Whether nothing more comes: also where the text, against its promise, just ends. */
function isClosing(text: string, index: number): boolean {
  return index >= text.length || text[index] === '}' || text[index] === ']'
}

type Span = { start: number; end: number }

/** The last string value at `path` below the object that starts at `start`, as JSON.parse would read a repeated key. */
function findStringSpan(text: string, path: readonly string[], start = 0): Span | undefined {
  let found: Span | undefined
  eachField(text, start, (name, valueStart, valueEnd) => {
    if (name !== path[0]) return
    if (path.length > 1) found = findStringSpan(text, path.slice(1), valueStart)
    else found = text[valueStart] === '"' ? { start: valueStart, end: valueEnd } : undefined
  })
  return found
}

/** Tells of each field of the object that starts at `start` its name and where its value stands. Returns where the object ends, if there is one. */
function eachField(
  text: string,
  start: number,
  tell: (name: string, valueStart: number, valueEnd: number) => void,
): number {
  let index = skipSpace(text, start)
  if (text[index] !== '{') return index
  index = skipSpace(text, index + 1)
  while (text[index] === '"') {
    const keyEnd = endOfString(text, index + 1)
    const valueStart = skipSpace(text, skipSpace(text, keyEnd) + 1)
    const valueEnd = endOfValue(text, valueStart)
    tell(readName(text.slice(index, keyEnd)), valueStart, valueEnd)
    index = skipSpace(text, valueEnd)
    if (text[index] !== ',') break
    index = skipSpace(text, index + 1)
  }
  return index
}

function readName(quoted: string): string {
  return quoted.includes('\\') ? String(parseJson(quoted)) : quoted.slice(1, -1)
}

function skipSpace(text: string, from: number): number {
  let index = from
  while (index < text.length && text.charCodeAt(index) <= 0x20) index++
  return index
}

function endOfValue(text: string, start: number): number {
  let depth = 0
  for (let index = start; index < text.length; index++) {
    const character = text[index]
    if (character === '"') {
      index = endOfString(text, index + 1) - 1
      if (depth === 0) return index + 1
    } else if (character === '{' || character === '[') depth++
    else if (character === '}' || character === ']') {
      if (depth === 0) return index
      if (--depth === 0) return index + 1
    } else if (depth === 0 && character === ',') return index
  }
  return text.length
}
