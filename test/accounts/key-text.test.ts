/** The text of a key: its checksum refuses every typo before any look-up. */
import { describe, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import { generateKey, hashKey, isWellFormedKey, keyHint } from '@/accounts/key-text'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

describe('a key’s text', () => {
  test('a key text has the service name, thirty characters and a checksum of six characters', () => {
    expect(generateKey('svc')).toMatch(/^svc-[0-9A-Za-z]{36}$/)
    expect(generateKey('acme-ai')).toMatch(/^acme-ai-[0-9A-Za-z]{36}$/)
  })

  test('the checksum of a key text can be computed by other programs', () => {
    expect(isWellFormedKey(`svc-${'0'.repeat(30)}${expectedChecksum('0'.repeat(30))}`, 'svc')).toBe(true)
  })

  test('a key’s text is accepted only by the service that created it', () => {
    const key = generateKey('svc')
    expect(isWellFormedKey(key, 'svc')).toBe(true)
    expect(isWellFormedKey(key, 'sv')).toBe(false)
    expect(isWellFormedKey(key, 'other')).toBe(false)
  })

  test('a key text with any changed character is refused', () => {
    fc.assert(
      fc.property(fc.nat(39), fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }), (position, character) => {
        const key = generateKey('svc')
        fc.pre(character !== key[position])
        return !isWellFormedKey(key.slice(0, position) + character + key.slice(position + 1), 'svc')
      }),
      { numRuns: 2000 },
    )
    const key = generateKey('svc')
    for (let position = 4; position < key.length; position++) {
      for (const character of ALPHABET) {
        if (character === key[position]) continue
        expect(isWellFormedKey(key.slice(0, position) + character + key.slice(position + 1), 'svc')).toBe(false)
      }
    }
  })

  test('a key text with swapped, missing or added characters is refused', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 38 }), (position) => {
        const key = generateKey('svc')
        const swapped = key.slice(0, position) + key[position + 1] + key[position] + key.slice(position + 2)
        if (key[position] !== key[position + 1]) expect(isWellFormedKey(swapped, 'svc')).toBe(false)
        expect(isWellFormedKey(key.slice(0, position) + key.slice(position + 1), 'svc')).toBe(false)
        expect(isWellFormedKey(`${key.slice(0, position)}0${key.slice(position)}`, 'svc')).toBe(false)
      }),
      { numRuns: 500 },
    )
  })

  test('S1: arbitrary text is not a key', () => {
    fc.assert(fc.property(fc.string({ maxLength: 80 }), (text) => !isWellFormedKey(text, 'svc')))
    expect(isWellFormedKey('__proto__', 'svc')).toBe(false)
    expect(isWellFormedKey(`${generateKey('svc')}\n`, 'svc')).toBe(false)
  })

  test('different keys have different hashes, and the hash does not contain the key', () => {
    const [first, second] = [generateKey('svc'), generateKey('svc')]
    expect(hashKey(first)).toMatch(/^[0-9a-f]{64}$/)
    expect(hashKey(first)).not.toBe(hashKey(second))
  })

  test('the shown part of a key is its first eight and last four characters', () => {
    const key = generateKey('svc')
    expect(keyHint(key)).toEqual({ prefix: key.slice(0, 8), lastFour: key.slice(-4) })
  })
})

/** The checksum, written a second time bit by bit: CRC-32 reflected polynomial 0xEDB88320, then base62 of six digits. */
function expectedChecksum(text: string): string {
  let crc = 0xffffffff
  for (const character of text) {
    crc ^= character.charCodeAt(0)
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  }
  let rest = (crc ^ 0xffffffff) >>> 0
  let digits = ''
  for (let index = 0; index < 6; index++) {
    digits = ALPHABET[rest % 62] + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}
