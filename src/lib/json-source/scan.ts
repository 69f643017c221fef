/** Scans JSON text before it is parsed: its depth and size, and whether parsing loses the spelling of numbers. */

/** Limits of one JSON text, weighted by the cost of parsing: a name counts as twenty values, an escape as a hundred characters. */
export type JsonBounds = { depth: number; values: number; names?: number; outside?: number; escapes?: number }

type JsonFindings = {
  /** The limit that the text exceeds, if any. The scan stops there. */
  breach: keyof JsonBounds | undefined
  /** The number of values up to the end of the scan: at least one, and empty arrays count as more. */
  values: number
  /** The number of object fields among these values. */
  fields: number
  /** Whether JSON.stringify would write a number differently after JSON.parse. */
  losesNumbers: boolean
}

const QUOTE = 0x22
const PLUS = 0x2b
const COMMA = 0x2c
const MINUS = 0x2d
const DOT = 0x2e
const ZERO = 0x30
const NINE = 0x39
const COLON = 0x3a
const UPPER_E = 0x45
const OPEN_BRACKET = 0x5b
const BACKSLASH = 0x5c
const CLOSE_BRACKET = 0x5d
const LOWER_E = 0x65
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/** A double represents every number with this many digits. */
const SAFE_DIGITS = 15
/** JavaScript writes numbers below 0.000001 with an exponent. */
const SMALLEST_ZEROS = 6

/** Measures JSON text before JSON.parse, whose recursion 200,000 brackets would exhaust. Linear. */
export function inspectJson(
  text: string,
  { depth: maxDepth, values: maxValues, names: maxNames, outside: maxOutside, escapes: maxEscapes }: JsonBounds,
): JsonFindings {
  let depth = 0
  let values = 1
  let fields = 0
  let losesNumbers = false
  if (maxEscapes !== undefined && text.length > 2 * maxEscapes && hasMoreEscapes(text, maxEscapes))
    return { breach: 'escapes', values, fields, losesNumbers }
  // A text this short can't contain more values: each value takes a character, and a separator before the next one. No limit applies here,
  // because an empty array or object counts as two values.
  const maxCount = text.length <= 2 * maxValues ? Number.POSITIVE_INFINITY : maxValues
  const most = maxOutside ?? text.length
  let stop = Math.min(text.length, most)
  for (let index = 0; index < stop; index++) {
    const code = text.charCodeAt(index)
    if (code === QUOTE) {
      const end = endOfString(text, index + 1)
      stop = Math.min(text.length, stop + end - index)
      index = end - 1
    } else if (code === COMMA) values++
    else if (code === COLON) fields++
    else if (!losesNumbers && isNumberStart(code)) {
      const end = endOfNumber(text, index, stop)
      if (end < 0) losesNumbers = true
      index = Math.abs(end) - 1
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      values++
      if (++depth > maxDepth) return { breach: 'depth', values, fields, losesNumbers }
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth--
    if (values > maxCount) return { breach: 'values', values, fields, losesNumbers }
  }
  let breach: JsonFindings['breach']
  if (stop < text.length) breach = 'outside'
  else if (maxNames !== undefined && fields > maxNames && hasMoreNames(text, maxNames)) breach = 'names'
  return { breach, values, fields, losesNumbers }
}

/** Whether there are more than `max` escaped characters. Called only for texts long enough to contain them. */
function hasMoreEscapes(text: string, max: number): boolean {
  let count = 0
  for (let index = text.indexOf('\\'); index !== -1; index = text.indexOf('\\', index + 2))
    if (++count > max) return true
  return false
}

/** Whether there are more than `max` different field names. Called only for texts with more fields: most repeat a few names. */
function hasMoreNames(text: string, max: number): boolean {
  const names = new Set<string>()
  let from = 0
  let to = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === QUOTE) {
      from = index + 1
      to = endOfString(text, from)
      index = to - 1
    } else if (code === COLON) {
      names.add(text.slice(from, to))
      if (names.size > max) return true
    }
  }
  return false
}

/** Whether `code` can be the first character of a number. */
export function isNumberStart(code: number): boolean {
  return code <= NINE && (code >= ZERO || code === MINUS)
}

/** The end of the number at `start`; negative if JavaScript would write it differently or it is none. Reads nothing after `stop`. */
export function endOfNumber(text: string, start: number, stop = text.length): number {
  const whole = text.charCodeAt(start) === MINUS ? start + 1 : start
  let end = endOfDigits(text, whole, stop)
  let code = text.charCodeAt(end)
  const isNegativeZero = whole !== start && end === whole + 1 && text.charCodeAt(whole) === ZERO
  if (code !== DOT && !isExponent(code) && end - whole <= SAFE_DIGITS && end > whole && !isNegativeZero) return end
  if (code === DOT) {
    const fraction = end + 1
    end = endOfDigits(text, fraction, stop)
    code = text.charCodeAt(end)
    const isPlain = !isExponent(code) && end - whole <= SAFE_DIGITS && end - fraction < SMALLEST_ZEROS
    if (isPlain && end > fraction && text.charCodeAt(end - 1) !== ZERO) return end
  }
  while (isNumberPart(code) && end < stop) code = text.charCodeAt(++end)
  const token = text.slice(start, end)
  return String(Number(token)) === token ? end : -end
}

/** The index after the string whose content begins at `from`. */
export function endOfString(text: string, from: number): number {
  for (let quote = text.indexOf('"', from); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let run = quote
    while (text.charCodeAt(run - 1) === BACKSLASH) run--
    // Backslashes escape each other: after an odd number of them, the quote belongs to the string.
    if ((quote - run) % 2 === 0) return quote + 1
  }
  return text.length
}

function endOfDigits(text: string, from: number, stop: number): number {
  let end = from
  for (let code = text.charCodeAt(end); code >= ZERO && code <= NINE && end < stop; code = text.charCodeAt(end)) end++
  return end
}

function isExponent(code: number): boolean {
  return code === LOWER_E || code === UPPER_E
}

function isNumberPart(code: number): boolean {
  return (code >= ZERO && code <= NINE) || code === DOT || code === PLUS || code === MINUS || isExponent(code)
}
