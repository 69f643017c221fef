/** Changes single values inside JSON text without touching any other byte. */

import { type JsonObject, type JsonValue, parseJson } from './json'

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** Replaces the string `current` at `path` by `value`; returns `text` itself if there is none. Linear. */
export function replaceStringInJson(text: string, path: readonly string[], current: string, value: string): string {
  const fresh = JSON.stringify(value)
  const name = JSON.stringify(path[path.length - 1] ?? '')
  const at = text.indexOf(name)
  // A name that occurs once is the one that was parsed: inside a string its quotes would be escaped.
  if (at !== -1 && text.indexOf(name, at + 1) === -1 && !maySpellNamesInEscapes(text)) {
    const old = JSON.stringify(current)
    const replaced = replaceAfter(text, at + name.length, old, fresh)
    if (replaced !== undefined) return replaced
  }
  const span = findStringSpan(text, path)
  return span ? text.slice(0, span.start) + fresh + text.slice(span.end) : text
}

/** Replaces the value `old` of the name that ends at `nameEnd`; undefined if another value follows. */
function replaceAfter(text: string, nameEnd: number, old: string, fresh: string): string | undefined {
  for (const separator of [':', ': ']) {
    const start = nameEnd + separator.length
    if (text.startsWith(separator + old, nameEnd)) return text.slice(0, start) + fresh + text.slice(start + old.length)
  }
  return undefined
}

/** How many characters at each end of a text are searched first: clients write short fields before or after the conversation. */
const NEAR_CHARS = 512

/** Replaces a string field of the outermost object like {@link replaceStringInJson}, if each of its names occurs once. */
function replaceOwnString(text: string, field: string, current: string, value: string): string {
  const name = JSON.stringify(field)
  const at = placeNearEnds(text, name)
  const replaced =
    at === -1 ? undefined : replaceAfter(text, at + name.length, JSON.stringify(current), JSON.stringify(value))
  return replaced ?? replaceStringInJson(text, [field], current, value)
}

/** The place of `name` in the outermost object, if no bracket is between it and the object's start or end; -1 otherwise. */
function placeNearEnds(text: string, name: string): number {
  const head = text.slice(0, NEAR_CHARS)
  const first = head.indexOf(name)
  if (first !== -1 && !/[[{]/.test(head.slice(1, first))) return first
  const tail = text.slice(-NEAR_CHARS)
  const last = tail.lastIndexOf(name)
  return last !== -1 && /^[^\]}]*}$/.test(tail.slice(last)) ? text.length - tail.length + last : -1
}

/**
 * Changes `text` (`before` as JSON) into the JSON of `after`, if they differ only in strings and added fields; undefined otherwise.
 * Unchanged fields are the same objects. Each name must occur once in `text`.
 */
export function copyJson(text: string, before: JsonObject, after: JsonObject): string | undefined {
  let copy = text
  let added = ''
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [old, fresh] = [before[name], after[name]]
    if (fresh === old) continue
    if (typeof old === 'string' && typeof fresh === 'string') copy = replaceOwnString(copy, name, old, fresh)
    else if (old === undefined) added += `,${JSON.stringify(name)}:${JSON.stringify(fresh)}`
    else return undefined
  }
  const end = copy.lastIndexOf('}')
  return added === '' ? copy : `${copy.slice(0, end)}${added}${copy.slice(end)}`
}

/** The new value at `path`; undefined removes it. `text` is the value as JSON, if known. */
export type JsonEdit = { path: readonly (string | number)[]; value: JsonValue | undefined; text?: string }

/** Returns `text` with the edits; missing names are added at the end. Linear per level of the paths. */
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
    const keyEnd = isObject ? endOfString(text, keyStart) : keyStart
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

/** The edited value as JSON; undefined if the value is removed. */
function editValue(text: string, edits: readonly JsonEdit[], depth: number): string | undefined {
  if (edits.length === 0) return text
  const whole = edits.findLast(({ path }) => path.length === depth)
  if (!whole) return editJson(text, edits, depth)
  return whole.value === undefined ? undefined : (whole.text ?? JSON.stringify(whole.value))
}

/** Whether an array or object closes at `index`; also true at the end of a truncated text. */
function isClosing(text: string, index: number): boolean {
  return index >= text.length || text[index] === '}' || text[index] === ']'
}

/** Whether a field name may contain an escaped letter, so that searching for the name would miss it. */
function maySpellNamesInEscapes(text: string): boolean {
  return text.includes('\\') && text.includes('\\u00') && /\\u00[4-7]/.test(text)
}

type Span = { start: number; end: number }

/** The last string value at `path` below the object that starts at `start`, as JSON.parse would read a repeated key. */
function findStringSpan(text: string, path: readonly string[], start = 0): Span | undefined {
  let found: Span | undefined
  let index = skipSpace(text, start)
  if (text[index] !== '{') return undefined
  index = skipSpace(text, index + 1)
  while (text[index] === '"') {
    const keyEnd = endOfString(text, index)
    const isWanted = parseJson(text.slice(index, keyEnd)) === path[0]
    const valueStart = skipSpace(text, skipSpace(text, keyEnd) + 1)
    const valueEnd = endOfValue(text, valueStart)
    if (isWanted && path.length > 1) found = findStringSpan(text, path.slice(1), valueStart)
    else if (isWanted) found = text[valueStart] === '"' ? { start: valueStart, end: valueEnd } : undefined
    index = skipSpace(text, valueEnd)
    if (text[index] !== ',') break
    index = skipSpace(text, index + 1)
  }
  return found
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
      index = endOfString(text, index) - 1
      if (depth === 0) return index + 1
    } else if (character === '{' || character === '[') depth++
    else if (character === '}' || character === ']') {
      if (depth === 0) return index
      if (--depth === 0) return index + 1
    } else if (depth === 0 && character === ',') return index
  }
  return text.length
}

function endOfString(text: string, start: number): number {
  for (let index = start + 1; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === BACKSLASH) index++
    else if (code === QUOTE) return index + 1
  }
  return text.length
}
