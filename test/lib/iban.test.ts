/** IBANs: published examples are read, and a mistyped character is detected. */
import { describe, expect, test } from 'bun:test'
import { parseIban } from '@/lib/iban'

describe('parseIban', () => {
  test.each([
    ['GB82 WEST 1234 5698 7654 32', 'GB82WEST12345698765432'],
    ['de89 3704 0044 0532 0130 00', 'DE89370400440532013000'],
    ['NO9386011117947', 'NO9386011117947'],
    ['MT84MALT011000012345MTLCAST001S', 'MT84MALT011000012345MTLCAST001S'],
  ])('parseIban reads %s', (text, iban) => {
    expect(parseIban(text)).toBe(iban)
  })

  test.each(['', 'GB82', 'GB83WEST12345698765432', 'GB82WEST12345698765423', 'GB82-WEST-1234-5698-7654-32'])(
    'parseIban refuses %p',
    (text) => {
      expect(parseIban(text)).toBeUndefined()
    },
  )
})
