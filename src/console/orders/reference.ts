/** References of orders, such as `SVC-7K3M-9QXP`, with a check character: a mistyped reference matches no order. */
import { randomBytes } from 'node:crypto'
import { assert } from '@/lib/assert'

export const REFERENCE_PREFIX = 'SVC'

/** 31 characters, a prime: with a different weight for each position, every wrong character and every swap of two is detected. */
const ALPHABET = '23456789ABCDEFGHJKMNPQRSTUVWXYZ'
const BODY_CHARS = 7
const GROUP_CHARS = 4
/** The largest multiple of 31 that a byte can hold. Larger bytes are discarded, so that every character is equally likely. */
const UNBIASED_LIMIT = 248
/** Longer transfer texts are cut before the search for a reference. No bank sends texts of this length. */
const MAX_TEXT_CHARS = 10_000

/** A new reference: one of 27,512,614,111, from the system's secure random source. The caller must check that it is unique. */
export function newReference(): string {
  let body = ''
  while (body.length < BODY_CHARS) {
    for (const byte of randomBytes(BODY_CHARS)) {
      if (byte < UNBIASED_LIMIT && body.length < BODY_CHARS) body += ALPHABET[byte % ALPHABET.length]
    }
  }
  return format(body + checkCharacter(body))
}

/** Every valid reference in a text's first 10,000 characters; spaces, dashes, case and full-width letters don't matter. */
export function findReferences(text: string): string[] {
  const plain = text
    .slice(0, MAX_TEXT_CHARS)
    .normalize('NFKC')
    .toUpperCase()
    .replace(/[^A-Z0-9]/g, '')
  const found = new Set<string>()
  for (let at = plain.indexOf(REFERENCE_PREFIX); at !== -1; at = plain.indexOf(REFERENCE_PREFIX, at + 1)) {
    const start = at + REFERENCE_PREFIX.length
    const code = plain.slice(start, start + BODY_CHARS + 1)
    if (isCode(code)) found.add(format(code))
  }
  return [...found]
}

function isCode(code: string): boolean {
  if (code.length !== BODY_CHARS + 1) return false
  for (const character of code) if (!ALPHABET.includes(character)) return false
  return code[BODY_CHARS] === checkCharacter(code.slice(0, BODY_CHARS))
}

function checkCharacter(body: string): string {
  let sum = 0
  for (let position = 0; position < body.length; position++) {
    sum += (position + 2) * ALPHABET.indexOf(body.charAt(position))
  }
  // The check character has weight 1. It makes the weighted sum of all characters a multiple of 31.
  const character = ALPHABET[(ALPHABET.length - (sum % ALPHABET.length)) % ALPHABET.length]
  assert(character !== undefined, 'the check character is in the alphabet')
  return character
}

function format(code: string): string {
  return `${REFERENCE_PREFIX}-${code.slice(0, GROUP_CHARS)}-${code.slice(GROUP_CHARS)}`
}
