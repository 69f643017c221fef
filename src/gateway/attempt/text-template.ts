/** Templates of JSON texts that differ only in a few values. With them, a stream's next event is read without parsing. */

/** A variable value. Without a name, it is a string found by its value. With a name, it is found by the name: a string or an integer. */
export type TemplateSlot = { name?: string; isCount: boolean; value: string }

export type TextTemplate = { literals: string[]; isCount: boolean[] }

const QUOTE = 0x22
const BACKSLASH = 0x5c
const SPACE = 0x20
const ZERO = 0x30
const NINE = 0x39
/** Maximum digits of an integer: a number with more digits may not be a safe integer. */
const MAX_COUNT_DIGITS = 15
/** Unicode line ends. */
const NEXT_LINE = 0x85
const LINE_SEPARATOR = 0x2028
const PARAGRAPH_SEPARATOR = 0x2029

/** The template of `text` around `slots`, in order. Undefined if a value's place is unclear: it occurs twice, or there are escapes. */
export function templateAround(text: string, slots: readonly TemplateSlot[]): TextTemplate | undefined {
  if (text.includes('\\')) return undefined
  const literals: string[] = []
  let end = 0
  for (const slot of slots) {
    const start = startOf(slot, text)
    if (start === undefined || start < end) return undefined
    literals.push(text.slice(end, start))
    end = start + slot.value.length
  }
  literals.push(text.slice(end))
  return { literals, isCount: slots.map((slot) => slot.isCount) }
}

/** The slots in the order of `text`. */
export function inOrder(text: string, slots: readonly TemplateSlot[]): TemplateSlot[] {
  const starts = slots.map((slot) => ({ slot, start: startOf(slot, text) ?? -1 }))
  return starts.sort((left, right) => left.start - right.start).map(({ slot }) => slot)
}

/** Whether both have the same text around the same kinds of values. */
export function isSameTemplate(one: TextTemplate, other: TextTemplate): boolean {
  const areSame = one.literals.length === other.literals.length
  return (
    areSame &&
    one.literals.every((literal, index) => literal === other.literals[index]) &&
    one.isCount.every((isCount, index) => isCount === other.isCount[index])
  )
}

/** The text with `values` in the slots. */
export function fill({ literals }: TextTemplate, values: readonly string[]): string {
  let text = literals[0] ?? ''
  for (let index = 0; index < values.length; index++) text += (values[index] ?? '') + (literals[index + 1] ?? '')
  return text
}

/** Matches the template at `from` in `text`. Returns the values as written, and the end. */
export function valuesAt(
  text: string,
  from: number,
  { literals, isCount }: TextTemplate,
): { values: string[]; end: number } | undefined {
  const values: string[] = []
  let end = from
  for (let index = 0; index < isCount.length; index++) {
    const literal = literals[index] ?? ''
    if (!text.startsWith(literal, end)) return undefined
    const start = end + literal.length
    end = isCount[index] ? endOfCount(text, start) : endOfString(text, start)
    if (end === -1) return undefined
    values.push(text.slice(start, end))
  }
  const last = literals[isCount.length] ?? ''
  return text.startsWith(last, end) ? { values, end: end + last.length } : undefined
}

/** The index in `text` where the value of `slot` begins. */
function startOf({ name, isCount, value }: TemplateSlot, text: string): number | undefined {
  if (isCount ? endOfCount(value, 0) !== value.length : endOfString(`${value}"`, 0) !== value.length) return undefined
  if (name === undefined && value === '') return undefined
  const sought = name === undefined ? `"${value}"` : `"${name}":`
  const at = text.indexOf(sought)
  if (at === -1 || text.indexOf(sought, at + 1) !== -1) return undefined
  if (name === undefined) return at + 1
  let start = at + sought.length
  while (text.charCodeAt(start) === SPACE) start++
  if (isCount)
    return endOfCount(text, start) === start + value.length && text.startsWith(value, start) ? start : undefined
  return text.startsWith(`"${value}"`, start) ? start + 1 : undefined
}

/** The end of the integer at `start`; -1 if it is no exact JSON integer. */
function endOfCount(text: string, start: number): number {
  let end = start
  for (let code = text.charCodeAt(end); code >= ZERO && code <= NINE; code = text.charCodeAt(end)) end++
  const digits = end - start
  const isOne = digits === 1 || (digits > 1 && digits <= MAX_COUNT_DIGITS && text.charCodeAt(start) !== ZERO)
  return isOne ? end : -1
}

/** The index of the closing quote of the string whose content begins at `start`; -1 if it has escapes or invalid characters. */
function endOfString(text: string, start: number): number {
  for (let index = start; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === QUOTE) return index
    if (code < SPACE || code === BACKSLASH || (code >= NEXT_LINE && isLineEnd(code))) return -1
  }
  return -1
}

function isLineEnd(code: number): boolean {
  return code === NEXT_LINE || code === LINE_SEPARATOR || code === PARAGRAPH_SEPARATOR
}
