/** Order references: found however a bank formats them, and never mistaken for one another. */
import { describe, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import { findReferences, newReference } from '@/console/orders/reference'

const ALPHABET = '23456789ABCDEFGHJKMNPQRSTUVWXYZ'
const references = fc.constant(null).map(newReference)

describe('newReference', () => {
  test('a new order reference is short and unique, and has no characters that look alike', () => {
    const drawn = Array.from({ length: 2_000 }, newReference)
    for (const reference of drawn) expect(reference).toMatch(/^SVC-[2-9A-HJKMNP-Z]{4}-[2-9A-HJKMNP-Z]{4}$/)
    expect(new Set(drawn).size).toBe(drawn.length)
  })
})

describe('findReferences', () => {
  test('findReferences finds a reference with any text around and between its characters', () => {
    const gap = fc.string({
      unit: fc.constantFrom(' ', '-', '.', '/', '\n', '\t', '–', '_', '\u00a0', ':'),
      maxLength: 3,
    })
    const noise = fc.string({ unit: fc.constantFrom(...'ABXYZ 0123.,é漢'), maxLength: 40 })
    fc.assert(
      fc.property(
        references,
        fc.array(gap, { minLength: 11, maxLength: 11 }),
        noise,
        noise,
        fc.boolean(),
        (...given) => {
          const [reference, gaps, before, after, isLower] = given
          const characters = [...reference.replace(/[^A-Z0-9]/g, '')]
          const spread = characters.map((character, position) => character + (gaps[position] ?? '')).join('')
          const text = `${before} ${isLower ? spread.toLowerCase() : spread} ${after}`
          expect(findReferences(text)).toContain(reference)
        },
      ),
    )
  })

  test('findReferences finds several references, each once', () => {
    const [first, second] = [newReference(), newReference()]
    expect(findReferences(`${first} and ${second} and ${first.toLowerCase()}`)).toEqual([first, second])
  })

  test('order references in full-width letters are found', () => {
    const reference = newReference()
    const wide = reference.replace(/[!-~]/g, (character) => String.fromCharCode(character.charCodeAt(0) + 0xfee0))
    expect(findReferences(wide)).toEqual([reference])
  })

  test('a reference with a wrong character, or with two swapped ones, is not found', () => {
    const place = fc.nat({ max: 7 })
    fc.assert(
      fc.property(references, place, place, fc.constantFrom(...ALPHABET), (reference, first, second, character) => {
        const code = [...reference.slice(4).replace('-', '')]
        const typo = code.with(first, character)
        const swapped = code.with(first, code[second] ?? '').with(second, code[first] ?? '')
        for (const changed of [typo, swapped]) {
          const isSame = changed.join('') === code.join('')
          expect(findReferences(`SVC-${changed.join('')}`).length).toBe(isSame ? 1 : 0)
        }
      }),
    )
  })

  test.each(['', 'SVC', 'SVC-1234-5678', 'svc svc svc', `SVC-${'A'.repeat(20_000)}`])(
    'findReferences finds nothing in %p',
    (text) => {
      expect(findReferences(text).filter((found) => found !== 'SVC-AAAA-AAAA')).toEqual([])
    },
  )
})
