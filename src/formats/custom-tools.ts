/** Custom tools, whose input is free text, as functions with one text argument for formats without them. */
import type { ToolGrammar } from '@/chat/request'
import { isJsonObject, type JsonObject, parseJson } from '@/lib/json'

/** What the hub has as the parameters of a custom tool. */
export const CUSTOM_PARAMETERS: JsonObject = {
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
  additionalProperties: false,
}

/** How arguments begin that keep to that form. */
const OPENING = /^\s*\{\s*"input"\s*:\s*"/

/** Within so many characters that beginning must come, for a text to be streamed. */
const MAX_OPENING = 1_024

const SPECIAL = /["\\]/g

/** A whole escape; the first half of a pair of surrogates is whole with the second, or with what can't be it. */
const ESCAPE = /\\(?:[^u]|u(?:d[89ab][\da-f]{2}(?:\\u[\da-f]{4}|(?=[^\\]|\\[^u]))|(?!d[89ab])[\da-f]{4}))/giy

/** What models write into strings as it is, and JSON does not know there. */
const CONTROLS = /\p{Cc}/gu

/** A custom tool's free text as the arguments of such a function. */
export function customArguments(input: string): string {
  return JSON.stringify({ input })
}

/** The free text out of such arguments; of a model that did not keep to their form, all that it wrote. */
export function customInput(argumentsText: string): string {
  const value = parseJson(argumentsText)
  if (isJsonObject(value) && typeof value.input === 'string') return value.input
  if (typeof value === 'string') return value
  if (value !== undefined || !openingOf(argumentsText)) return argumentsText
  const cut = createCustomInput()
  return cut.push(argumentsText) + cut.end()
}

/** The free text out of such arguments while they come. */
export interface CustomInput {
  /** The text that the next piece of the arguments adds: whole characters, or nothing yet. */
  push(piece: string): string
  /** The rest of the text at the end. */
  end(): string
}

/** Reads one call's arguments. A text that does not begin in their form is sent whole at its end. */
export function createCustomInput(): CustomInput {
  let isInside = false
  let isClosed = false
  /** Received text that was not sent yet. */
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

/**
 * The end of the last whole character in JSON's text of a string: its closing quote, or the place before an unfinished escape.
 */
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

/** How the arguments begin, where they do in the form of a custom tool's. */
function openingOf(text: string): string | undefined {
  return OPENING.exec(text.slice(0, MAX_OPENING))?.[0]
}

/** The characters that JSON's text of a string stands for; as they are where it is no JSON. */
function decodeText(text: string): string {
  const value = parseJson(`"${text.replace(CONTROLS, (control) => JSON.stringify(control).slice(1, -1))}"`)
  return typeof value === 'string' ? value : text
}

/**
 * The description of a custom tool with the form of its text in words: only providers that know custom tools can enforce it.
 */
export function describeCustom(description: string | undefined, grammar: ToolGrammar | undefined): string {
  const form = grammar && `The input must match this ${grammar.syntax ?? ''} grammar:\n${grammar.definition}`
  return [description, form].filter(Boolean).join('\n\n')
}
