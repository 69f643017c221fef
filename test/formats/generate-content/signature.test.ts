/** Signatures of all formats in generate-content's one base64 field. */
import { describe, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import { FORMAT_NAMES } from '@/chat/format-name'
import {
  decodeSignature,
  encodeRedacted,
  encodeSignature,
  isForeignSignature,
  normaliseBase64,
} from '@/formats/generate-content/signature'

const anySignature = fc.record({
  format: fc.constantFrom(...FORMAT_NAMES),
  value: fc.base64String({ minLength: 4, maxLength: 200 }).filter((value) => !value.startsWith('c3ZjL')),
})

describe('signatures', () => {
  test('any signature is the same after encoding and decoding, also through a client that writes base64url', () => {
    fc.assert(
      fc.property(anySignature, (signature) => {
        const wire = encodeSignature(signature)
        expect(wire).toMatch(/^[A-Za-z0-9+/]*={0,2}$/)
        const urlSafe = wire.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
        for (const sent of [wire, urlSafe]) {
          expect(decodeSignature(sent)).toEqual({ signature })
          expect(isForeignSignature(sent)).toBe(signature.format !== 'generate-content')
        }
      }),
    )
  })

  test('a redacted block is the same after encoding and decoding', () => {
    fc.assert(
      fc.property(anySignature, (redacted) => {
        expect(decodeSignature(encodeRedacted(redacted))).toEqual({ redacted })
      }),
    )
  })

  test('any client text is read without an error', () => {
    fc.assert(fc.property(fc.string(), (value) => void decodeSignature(value)))
    fc.assert(fc.property(fc.string(), (value) => void decodeSignature(Buffer.from(`svc.${value}`).toString('base64'))))
  })

  test('placeholder signatures are not taken as signatures', () => {
    expect(decodeSignature('skip_thought_signature_validator')).toEqual({})
    expect(decodeSignature('')).toEqual({})
    expect(decodeSignature(undefined)).toEqual({})
  })

  test('base64url is converted to base64 with padding', () => {
    expect(normaliseBase64('CiQB0e2Kb-_8AQ')).toBe('CiQB0e2Kb+/8AQ==')
    expect(normaliseBase64('AAAA')).toBe('AAAA')
  })
})
