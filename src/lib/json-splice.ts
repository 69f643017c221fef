/** Replaces one string inside JSON text without touching any other byte: how a public model id gets into a relayed answer. */

import { parseJson } from './json'

const QUOTE = 0x22
const BACKSLASH = 0x5c

/**
 * Returns `text` with the string at `path` (object keys from the root) replaced by `value`. `current` is the string that a
 * parse found there. Where the path holds no string, `text` comes back unchanged. Linear in the text's length.
 */
export function replaceStringInJson(text: string, path: readonly string[], current: string, value: string): string {
  const key = path[path.length - 1] ?? ''
  const old = JSON.stringify(current)
  const fresh = JSON.stringify(value)
  for (const separator of maySpellNamesInEscapes(text) ? [] : [':', ': ']) {
    const needle = `${JSON.stringify(key)}${separator}${old}`
    const at = text.indexOf(needle)
    if (at === -1) continue
    // Once only, and so surely the one the parse found: the same text inside a string would have escaped quotes.
    if (text.indexOf(needle, at + 1) !== -1) break
    if (text.indexOf(`"${key}"`) === at && text.lastIndexOf(`"${key}"`) === at) {
      const start = at + needle.length - old.length
      return text.slice(0, start) + fresh + text.slice(start + old.length)
    }
    break
  }
  const span = findStringSpan(text, path)
  return span ? text.slice(0, span.start) + fresh + text.slice(span.end) : text
}

/** An escaped letter may be part of a name, which no search for the name would then find. */
function maySpellNamesInEscapes(text: string): boolean {
  return text.includes('\\u00') && /\\u00[4-7]/.test(text)
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
