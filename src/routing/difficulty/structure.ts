/** Traits of a prompt's form, without its words: length, parts, and the share of attached text. */
import { isIdeograph } from './fingerprint'
import type { PromptParts } from './instruction'

const INSTRUCTION_STEPS = 11
const MATERIAL_STEPS = 9
/** One ideograph counts as a word of this many letters. */
const WORD_OF_IDEOGRAPH = 4

/** The names of the signals, in the order of {@link readStructure} and of the weights. */
export const STRUCTURE = [
  ...range('instruction length', INSTRUCTION_STEPS),
  ...range('material length', MATERIAL_STEPS),
  'material is code',
  'material is most of it',
  'program code',
  'much program code',
  'formulas',
  'many formulas',
  'TeX',
  'numbers',
  'many numbers',
  'long numbers',
  'one question',
  'several questions',
  'ends in a question',
  'several sentences',
  'many sentences',
  'several lines',
  'many lines',
  'a list of points',
  'choices to pick from',
  'long words',
  'single letters',
  'brackets',
  'commas',
  'repeats its words',
  'length',
  'length of the instruction',
  'instruction is short',
  'short and about code',
  'short and with formulas',
  'long and about code',
  'long and with formulas',
  'short with material',
  'short with little material',
  'an order of a few words with material',
  'a word or two',
  'a few words',
] as const

/** The strengths of the signals, from 0 to 1. The scorer uses one array for all calls. */
export type Structure = Float32Array

const CODE_SIGN =
  /\(\)|[;{}]\s*\n|=>|==|!=|::|<\/\w|\bdef \w|\bfn \w|\bfunc \w|\breturn\b|\bimport \w|#include|\bconst \w|\bvoid\b|\bclass \w|\bSELECT\b/g
const FORMULA =
  /\d\s?[-+*/×÷^=]\s?\d|\b[a-z]\s?[=^<>+*]\s?[-a-z0-9]|\b[a-z]\([a-z0-9,]+\)|\d\s?%|\d\/\d|[∀∃∈∑∫√≤≥≠πθ∞]/gi
const TEX = /\\(?:frac|int|sum|sqrt|begin|left|mathbb?|lim|alpha|theta|cdot|text|le|ge|in|to)\b|\$[^$\n]{1,80}\$/g
const NUMBER = /\d+/g
const QUESTION = /[?？؟]/g
const SENTENCE_END = /[.!?。！？؟।…](?=\s|$|[^\s\d.])/g
const POINT = /(?:^|\n)\s*(?:[-*•]|\d{1,2}[.)、])\s*\S/g
const CHOICE = /(?:^|[\n\s])\(?[A-DА-Г][.)．、]\s*\S/g

/** Fills `into` from the parts of a prompt. `payloadChars` is the length of the whole material before sampling. */
export function readStructure(parts: PromptParts, payloadChars: number, into: Structure): void {
  const { instruction, payload } = parts
  const both = `${instruction}\n${payload}`
  const counts = countCharacters(instruction)
  const size = instruction.length + counts.ideographs * (WORD_OF_IDEOGRAPH - 1)
  const code = occurrences(both, CODE_SIGN)
  const formulas = occurrences(instruction, FORMULA)
  into.fill(0)
  let at = oneOf(into, 0, INSTRUCTION_STEPS, size === 0 ? 0 : Math.log2(1 + size / 6))
  at = oneOf(into, at, MATERIAL_STEPS, payloadChars === 0 ? 0 : Math.log2(1 + payloadChars / 12))
  const set = (value: number) => {
    into[at++] = value > 1 ? 1 : Math.max(0, value)
  }
  set(payload.startsWith('```') ? 1 : 0)
  set(payloadChars > 2 * instruction.length ? 1 : 0)
  set(code / 2)
  set(code / 12)
  set(formulas / 2)
  set(formulas / 8)
  set(occurrences(both, TEX) / 3)
  setNumbers(instruction, set)
  setShape(instruction, counts.lines, set)
  set(occurrences(both, CHOICE) / 4)
  setWords(counts, instruction, set)
  setTogether(size, payloadChars, code, formulas, set)
  const isAlone = payloadChars === 0 && counts.ideographs <= counts.words * 3
  set(isAlone && counts.words <= 2 ? 1 : 0)
  set(isAlone && counts.words <= 6 ? 1 : 0)
}

type Setter = (value: number) => void

function setShape(instruction: string, lines: number, set: Setter): void {
  const questions = occurrences(instruction, QUESTION)
  const sentences = occurrences(instruction, SENTENCE_END)
  set(questions > 0 ? 1 : 0)
  set((questions - 1) / 2)
  set(/[?？؟]\s*$/.test(instruction) ? 1 : 0)
  set((sentences - 1) / 2)
  set((sentences - 3) / 6)
  set(lines / 3)
  set(lines / 12)
  set(occurrences(instruction, POINT) / 4)
}

/** Sets signals that combine a trait with the length, since the trait's meaning depends on the length. */
function setTogether(size: number, payloadChars: number, code: number, formulas: number, set: Setter): void {
  const short = size < 240 ? 1 - size / 240 : 0
  const long = Math.min(1, size / 1_200)
  set(Math.log2(1 + (size + Math.min(payloadChars, 4_000)) / 16) / 8)
  set(Math.log2(1 + size / 16) / 6)
  set(size < 60 ? 1 - size / 60 : 0)
  set(Math.min(1, code / 2) * short)
  set(Math.min(1, formulas / 2) * short)
  set(Math.min(1, code / 2) * long)
  set(Math.min(1, formulas / 2) * long)
  set(payloadChars > 0 ? short : 0)
  set(payloadChars > 0 && payloadChars < 600 ? short : 0)
  set(payloadChars > 0 && payloadChars < 600 && size < 48 ? 1 : 0)
}

function setNumbers(text: string, set: Setter): void {
  let count = 0
  let long = 0
  for (const [digits] of text.matchAll(NUMBER)) {
    count++
    if (digits.length >= 4) long++
  }
  set(count / 2)
  set(count / 8)
  set(long / 2)
}

function setWords(counts: Counts, text: string, set: Setter): void {
  const words = Math.max(1, counts.words)
  set((counts.longWords / words) * 3)
  set((counts.singles / words) * 8)
  set((counts.brackets / Math.max(1, text.length)) * 40)
  set((counts.commas / words) * 10)
  set(words > 40 ? 1 - counts.distinct / words : 0)
}

type Counts = {
  words: number
  longWords: number
  singles: number
  distinct: number
  brackets: number
  commas: number
  lines: number
  ideographs: number
}

function countCharacters(text: string): Counts {
  const counts = {
    words: 0,
    longWords: 0,
    singles: 0,
    distinct: 0,
    brackets: 0,
    commas: 0,
    lines: 0,
    ideographs: 0,
  }
  const seen = new Set<number>()
  let length = 0
  let hash = 0
  for (let index = 0; index <= text.length; index++) {
    const code = index < text.length ? text.charCodeAt(index) : 32
    if (isWordCode(code)) {
      if (isIdeograph(code)) counts.ideographs++
      length++
      hash = Math.imul(hash ^ code, 0x01000193)
      continue
    }
    if (code === 40 || code === 41 || code === 91 || code === 93 || code === 123 || code === 125) counts.brackets++
    if (code === 44 || code === 0xff0c || code === 0x3001) counts.commas++
    if (code === 10) counts.lines++
    if (length === 0) continue
    counts.words++
    if (length >= 9) counts.longWords++
    if (length === 1) counts.singles++
    seen.add(hash)
    length = 0
    hash = 0
  }
  counts.distinct = seen.size
  return counts
}

function isWordCode(code: number): boolean {
  return (
    (code >= 97 && code <= 122) ||
    (code >= 65 && code <= 90) ||
    (code >= 48 && code <= 57) ||
    code === 39 ||
    code >= 0xc0
  )
}

/** Sets one of `size` signals to 1, or shares the 1 between two neighbours, so that changes are smooth. Returns the index after all. */
function oneOf(into: Structure, at: number, size: number, value: number): number {
  const bounded = Math.min(size - 1, value)
  const low = Math.floor(bounded)
  const share = bounded - low
  into[at + low] = 1 - share
  if (share > 0) into[at + low + 1] = share
  return at + size
}

function occurrences(text: string, pattern: RegExp): number {
  pattern.lastIndex = 0
  let count = 0
  while (pattern.test(text)) count++
  return count
}

function range(name: string, size: number): string[] {
  return Array.from({ length: size }, (_, index) => `${name} ${index}`)
}
