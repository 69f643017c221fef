/** Counts tokens with a real vocabulary for as long as one request may have it. Takes half a second to load. */
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'

/** All tokens up to a character of a text, where the budget ended; else the number of texts, and 0. */
export type Counted = { tokens: number; text: number; character: number }

/** Merging is quadratic in a run of letters: 16,000 ideographs take 690 ms whole, 42 ms in pieces (1 % more tokens). */
const PIECE_CHARS = 256
/** What one request may spend in all, of the processor's time; prose of 1 MB takes about 50 ms. */
const BUDGET_MS = 150
/** Words that mean something to the tokenizer, such as `<|endoftext|>`, are plain text in a prompt. */
const AS_PLAIN_TEXT = { disallowedSpecial: new Set<string>() }

/** Counts `texts` as far as the budget goes. `now` is milliseconds of whatever the budget is of. */
export function countWithinBudget(texts: readonly string[], now: () => number): Counted {
  const endMs = now() + BUDGET_MS
  let tokens = 0
  for (const [index, text] of texts.entries()) {
    for (let at = 0; at < text.length; at += PIECE_CHARS) {
      if (now() > endMs) return { tokens, text: index, character: at }
      tokens += countTokens(text.slice(at, at + PIECE_CHARS), AS_PLAIN_TEXT)
    }
  }
  return { tokens, text: texts.length, character: 0 }
}
