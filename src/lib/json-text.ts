import { type JsonObject, type JsonValue, parseJson } from './json'

type JsonTextResult =
  | { kind: 'parsed'; value: JsonValue }
  /** `line` and `column` count from 1. */
  | { kind: 'broken'; line: number; column: number; message: string }

const MAX_DEPTH = 100
const SPACE = /[ \t\r\n]*/y
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-])|true\b|false\b|null\b/y
const STRING = /"(?:[^"\\\n]|\\.)*"/y

/** Parses JSON that a person wrote: errors have line and column, and repeated names are errors. For files: JSON.parse is far faster. */
export function readJsonText(text: string): JsonTextResult {
  const source = text.startsWith('\uFEFF') ? text.slice(1) : text
  try {
    return { kind: 'parsed', value: readDocument(source) }
  } catch (error) {
    if (!(error instanceof SyntaxFault)) throw error
    const before = source.slice(0, error.at).split('\n')
    return { kind: 'broken', line: before.length, column: (before.at(-1) ?? '').length + 1, message: error.message }
  }
}

class SyntaxFault extends Error {
  override readonly name = 'SyntaxFault'

  constructor(
    readonly at: number,
    message: string,
  ) {
    super(message)
  }
}

function readDocument(source: string): JsonValue {
  let at = 0

  /** The token that matches `pattern` here, if any; skips it and the space after it. */
  function take(pattern: RegExp): string | undefined {
    pattern.lastIndex = at
    const token = pattern.exec(source)?.[0]
    if (token !== undefined) skip(token.length)
    return token
  }

  function skip(length: number): void {
    SPACE.lastIndex = at + length
    at = SPACE.test(source) ? SPACE.lastIndex : at + length
  }

  function takeCharacter(character: string): boolean {
    if (source[at] !== character) return false
    skip(1)
    return true
  }

  function expect(character: string, context: string): void {
    if (!takeCharacter(character)) throw new SyntaxFault(at, `expected ${character} ${context}`)
  }

  function readValue(depth: number): JsonValue {
    if (depth > MAX_DEPTH) throw new SyntaxFault(at, `nested deeper than ${MAX_DEPTH} levels`)
    if (takeCharacter('{')) return readObject(depth)
    if (takeCharacter('[')) return readArray(depth)
    if (source[at] === '"') return readString('a string without its closing quote')
    const token = take(SCALAR)
    if (token !== undefined) return JSON.parse(token) as JsonValue
    throw new SyntaxFault(at, at === source.length ? 'the text ends too early' : 'expected a JSON value')
  }

  function readString(complaint: string): string {
    const start = at
    const token = take(STRING)
    if (token === undefined) throw new SyntaxFault(start, complaint)
    const text = parseJson(token)
    if (typeof text !== 'string') throw new SyntaxFault(start, 'a string with a control character or unknown escape')
    return text
  }

  function readObject(depth: number): JsonObject {
    const entries = new Map<string, JsonValue>()
    if (takeCharacter('}')) return {}
    do {
      const start = at
      const name = readString('expected a property name in double quotes')
      if (entries.has(name)) throw new SyntaxFault(start, `the property ${JSON.stringify(name)} is given twice`)
      expect(':', 'after the property name')
      entries.set(name, readValue(depth + 1))
    } while (takeCharacter(','))
    expect('}', 'or a comma')
    return Object.fromEntries(entries)
  }

  function readArray(depth: number): JsonValue[] {
    const items: JsonValue[] = []
    if (takeCharacter(']')) return items
    do items.push(readValue(depth + 1))
    while (takeCharacter(','))
    expect(']', 'or a comma')
    return items
  }

  skip(0)
  const value = readValue(0)
  if (at < source.length) throw new SyntaxFault(at, 'expected nothing more')
  return value
}
