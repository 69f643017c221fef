/** Counts the words and signs in a text that tell what kind of work it asks for. Linear, with one pass per kind of sign. */
import { formsOf, TRANSLATED_PARTS, TRANSLATED_WORDS } from './cue-translations'
import { CUE_WORDS, type Cue } from './cue-words'

/** How often each kind of cue occurs. */
type CueCounts = Record<Cue, number> & {
  /** Characters of scripts where one of them is about a word. */
  ideographs: number
  /** Whether the text has letters that English does not write. */
  hasOtherLetters: boolean
}

const PREFIX_CHARS = 6
const WORD = /[a-z\u00df-\u024f\u0400-\u04ff][a-z'\u00df-\u024f\u0400-\u04ff-]+/g
const OTHER_LETTER = /[\u00df-\u024f\u0370-\uffff]/
const BEYOND_LATIN = /[\u0590-\uffff]/
const IDEOGRAPH = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/g
/** What programs are full of and prose is not: fences, calls, braces at line ends, operators of code. */
const CODE_SIGN = /```|\(\)|[;{}]\n|=>|==|::|<\/|\bdef |\bfn |\bfunc /g
/** Formulas: an operator between numbers or single letters, powers, TeX, functions of one letter. */
const MATHEMATICS_SIGN =
  /\d\s?[-+*/×÷^=]\s?\d|\b[a-z]\s?[=^<>+]\s?[-a-z0-9]|\\(?:int|frac|sum)|\b[a-z]\([a-z0-9]\)|\d\s?%|\d\/\d/g

const CUE_NAMES = ['hard', 'easy', 'constraints', 'code', 'mathematics'] as const satisfies readonly Cue[]
/** Which cues a word is, as bits in the order of {@link CUE_NAMES}. */
const BITS_OF_WORD = new Map<string, number>()
for (const [index, cue] of CUE_NAMES.entries()) {
  const translated = Object.values(TRANSLATED_WORDS).flatMap((language) => formsOf(language[cue]))
  for (const word of [...CUE_WORDS[cue].flatMap((line) => line.split(' ')), ...translated]) {
    BITS_OF_WORD.set(word, (BITS_OF_WORD.get(word) ?? 0) | (1 << index))
  }
}

/** What to look for in scripts without gaps, by cue. */
const PARTS = CUE_NAMES.map((cue) => {
  const forms = Object.values(TRANSLATED_PARTS).flatMap((language) => formsOf(language[cue]))
  return [cue, new RegExp(forms.join('|'), 'g')] as const
})

/** Counts the cues of `text`, which the caller has bounded. */
export function countCues(text: string): CueCounts {
  const lower = text.toLowerCase()
  const hasOtherLetters = OTHER_LETTER.test(text)
  const isBeyondLatin = hasOtherLetters && BEYOND_LATIN.test(text)
  const counts: CueCounts = {
    ...countWords(lower),
    ideographs: isBeyondLatin ? occurrences(text, IDEOGRAPH) : 0,
    hasOtherLetters,
  }
  counts.code += 2 * occurrences(text, CODE_SIGN)
  counts.mathematics += 2 * occurrences(lower, MATHEMATICS_SIGN)
  if (isBeyondLatin) for (const [cue, part] of PARTS) counts[cue] += occurrences(text, part)
  return counts
}

function countWords(lower: string): Record<Cue, number> {
  const counts = { hard: 0, easy: 0, constraints: 0, code: 0, mathematics: 0 }
  for (const word of lower.match(WORD) ?? []) {
    const bits = BITS_OF_WORD.get(word) ?? (word.length > PREFIX_CHARS ? prefixBits(word) : 0)
    if (bits === 0) continue
    for (const [index, cue] of CUE_NAMES.entries()) counts[cue] += (bits >> index) & 1
  }
  return counts
}

function prefixBits(word: string): number {
  return BITS_OF_WORD.get(word.slice(0, PREFIX_CHARS)) ?? 0
}

function occurrences(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0
}
