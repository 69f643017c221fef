/** Amounts of bank statements: decimal comma or point, thousands apart or not, signs in front, behind or as brackets. */

type AmountsResult =
  /** In cents of the statement's currency; negative for money that left. `undefined`: that text is no amount. */
  | { kind: 'read'; cents: (number | undefined)[] }
  /** `1,50` and `1.50` in one column: nobody can tell what `1,500` means there. */
  | { kind: 'mixed_decimal_signs' }

/** The largest amount of a line: far above any order, far below what a number counts exactly. */
const MAX_CENTS = 1_000_000_000_00

/** Reads a whole column: `1.500` is thousands where another text shows a decimal comma, and nothing where none does. */
export function readAmounts(texts: readonly string[]): AmountsResult {
  const shapes = texts.map(shapeOf)
  const signs = new Set(shapes.flatMap((shape) => (shape?.decimalSign ? [shape.decimalSign] : [])))
  if (signs.size > 1) return { kind: 'mixed_decimal_signs' }
  const [decimalSign] = signs
  return { kind: 'read', cents: shapes.map((shape) => shape && centsOf(shape, decimalSign)) }
}

type Sign = '.' | ','
type Shape = {
  isNegative: boolean
  /** Digits and separators only. */
  digits: string
  /** Where the text itself shows it. */
  decimalSign: Sign | undefined
}

const CURRENCY_WORDS = /[$€£¥]|\b[A-Za-z]{3}\b/g
const BLANKS = /[\s\u00a0\u202f'’]/g
const NUMBER = /^(?:\d+|\d{1,3}(?:\.\d{3})+|\d{1,3}(?:,\d{3})+)(?:[.,]\d{1,2})?$/
const DECIMALS = /([.,])\d{1,2}$/
const THOUSANDS = /([.,])\d{3}(?!\d)/g

function shapeOf(text: string): Shape | undefined {
  const bare = text.replace(CURRENCY_WORDS, '').replace(BLANKS, '').replaceAll('−', '-')
  const match = /^(\()?([+-]?)([\d.,]+)([+-]?)(\))?$/.exec(bare)
  if (!match) return undefined
  const [, opening, before = '', digits = '', after = '', closing] = match
  const isBracketed = opening !== undefined
  if (isBracketed !== (closing !== undefined)) return undefined
  if ([before, after, isBracketed ? '-' : ''].filter((sign) => sign !== '').length > 1) return undefined
  if (!NUMBER.test(digits)) return undefined
  return { isNegative: isBracketed || before === '-' || after === '-', digits, decimalSign: shownSign(digits) }
}

/** `1,5` and `1.234,50` show that the comma is the sign, and so does `1.234.567`; `1.234` shows nothing. */
function shownSign(digits: string): Sign | undefined {
  const decimals = DECIMALS.exec(digits)?.[1]
  if (decimals === '.' || decimals === ',') return decimals
  const separators = [...digits.matchAll(THOUSANDS)].map((match) => match[1])
  if (separators.length < 2) return undefined
  return separators[0] === '.' ? ',' : '.'
}

function centsOf({ isNegative, digits }: Shape, decimalSign: Sign | undefined): number | undefined {
  const hasSeparator = /[.,]/.test(digits)
  if (hasSeparator && decimalSign === undefined) return undefined
  const [whole = '', fraction = ''] = decimalSign === undefined ? [digits] : digits.split(decimalSign)
  // Three digits after the decimal sign: a price per litre perhaps, no amount of money.
  if (fraction.length > 2 || (decimalSign && digits.split(decimalSign).length > 2)) return undefined
  const separator = decimalSign === '.' ? ',' : '.'
  const magnitude = Number(whole.replaceAll(separator, '')) * 100 + Number(fraction.padEnd(2, '0'))
  if (!Number.isSafeInteger(magnitude) || magnitude > MAX_CENTS) return undefined
  return isNegative && magnitude > 0 ? -magnitude : magnitude
}
