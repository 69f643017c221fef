/** Represents custom tools, whose input is free text, as functions with one text argument, for formats without custom tools. */
import type { ToolGrammar } from '@/chat/request'
import { isJsonObject, type JsonObject, parseJson } from '@/lib/json'

/** The function parameters that represent a custom tool in the hub. */
export const CUSTOM_PARAMETERS: JsonObject = {
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
  additionalProperties: false,
}

/** The expected beginning of the arguments. */
const OPENING = /^\s*\{\s*"input"\s*:\s*"/

/** A text is streamed only if that beginning comes within this many characters. */
const MAX_OPENING = 1_024

const SPECIAL = /["\\]/g

/** A complete escape sequence. A surrogate pair's first half is complete when its second half or other text follows. */
const ESCAPE = /\\(?:[^u]|u(?:d[89ab][\da-f]{2}(?:\\u[\da-f]{4}|(?=[^\\]|\\[^u]))|(?!d[89ab])[\da-f]{4}))/giy

/** Control characters that models write into strings unescaped, which JSON forbids. */
const CONTROLS = /\p{Cc}/gu

/** A custom tool's free text as the function's arguments. */
export function customArguments(input: string): string {
  return JSON.stringify({ input })
}

/** The free text in a function's arguments; the whole arguments if they have another shape. */
export function customInput(argumentsText: string): string {
  const value = parseJson(argumentsText)
  if (isJsonObject(value) && typeof value.input === 'string') return value.input
  if (typeof value === 'string') return value
  if (value !== undefined || !openingOf(argumentsText)) return argumentsText
  const cut = createCustomInput()
  return cut.push(argumentsText) + cut.end()
}

export interface CustomInput {
  push(piece: string): string
  end(): string
}

/** Reads one call's arguments. A text with an unexpected beginning is returned whole at the end. */
export function createCustomInput(): CustomInput {
  let isInside = false
  let isClosed = false
  let rest = ''

  function push(piece: string): string {
    if (isClosed) return ''
    rest += piece
    if (!isInside) {
      const opening = openingOf(rest)
      if (!opening) return ''
      isInside = true
      rest = rest.slice(opening.length)
    }
    const end = endOfWhole(rest)
    isClosed = rest[end] === '"'
    const text = decodeText(rest.slice(0, end))
    rest = isClosed ? '' : rest.slice(end)
    return text
  }

  return { push, end: () => (isInside ? decodeText(rest) : customInput(rest)) }
}

/** The position up to which a JSON string is complete: its closing quote, an incomplete escape, or the end of the text. */
function endOfWhole(text: string): number {
  for (let at = 0; ; ) {
    SPECIAL.lastIndex = at
    const found = SPECIAL.exec(text)
    if (!found) return text.length
    if (found[0] === '"') return found.index
    ESCAPE.lastIndex = found.index
    const escaped = ESCAPE.exec(text)
    if (!escaped) return found.index
    at = ESCAPE.lastIndex
  }
}

function openingOf(text: string): string | undefined {
  return OPENING.exec(text.slice(0, MAX_OPENING))?.[0]
}

/** Decodes the inside of a JSON string; invalid JSON is returned unchanged. */
function decodeText(text: string): string {
  const value = parseJson(`"${text.replace(CONTROLS, (control) => JSON.stringify(control).slice(1, -1))}"`)
  return typeof value === 'string' ? value : text
}

/** The description of a custom tool including its grammar as text, since only providers with custom tools can enforce it. */
export function describeCustom(description: string | undefined, grammar: ToolGrammar | undefined): string {
  const form = grammar && `The input must match this ${grammar.syntax ?? ''} grammar:\n${grammar.definition}`
  return [description, form].filter(Boolean).join('\n\n')
}
