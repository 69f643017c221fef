/** Vectors as numbers and as base64: 32-bit numbers keep their value, and other values are not read as vectors. */
import { describe, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import { readVector, vectorText } from '@/formats/vectors'

const float = fc.float({ noNaN: true, noDefaultInfinity: true })
const vector = fc.array(float, { minLength: 1, maxLength: 64 })

/** What the wire says, read by other means. */
function littleEndian(text: string): number[] {
  const bytes = Buffer.from(text, 'base64')
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  return Array.from({ length: bytes.length / 4 }, (_, index) => view.getFloat32(index * 4, true))
}

const packVector = (numbers: readonly number[]): string => JSON.parse(vectorText(numbers, 'base64'))
const unpackVector = (text: string): number[] => JSON.parse(vectorText(text, 'float'))

describe('an embedding vector', () => {
  test('a vector is the same after packing and unpacking', () => {
    fc.assert(
      fc.property(vector, (numbers) => {
        const packed = packVector(numbers)
        expect(littleEndian(packed)).toEqual(numbers)
        expect(unpackVector(packed)).toEqual(numbers.map((number) => number + 0))
        expect(readVector(packed)).toBe(packed)
      }),
    )
  })

  test('a vector’s numbers are rounded to 32 bits', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: -1e30, max: 1e30, noNaN: true }), { minLength: 1 }), (numbers) => {
        expect(littleEndian(packVector(numbers))).toEqual(numbers.map(Math.fround))
      }),
    )
  })

  test('base64 padding of a vector is removed', () => {
    const bare = packVector([1]).replaceAll('=', '')
    expect(readVector(bare)).toBe(bare)
  })

  test('a vector is the same JSON from numbers and from packed bytes', () => {
    fc.assert(
      fc.property(vector, (numbers) => {
        const plain = numbers.map((number) => number + 0)
        expect(JSON.parse(vectorText(numbers, 'float'))).toEqual(plain)
        expect(JSON.parse(vectorText(packVector(numbers), 'float'))).toEqual(plain)
        expect(littleEndian(packVector(numbers))).toEqual(numbers)
        expect(vectorText(packVector(numbers), 'base64')).toBe(vectorText(numbers, 'base64'))
      }),
    )
  })

  test.each([
    [undefined],
    [null],
    [''],
    [[]],
    [{}],
    [1],
    [[1, '2']],
    [[1, null]],
    [[[1]]],
    [[Number.NaN]],
    [[1e300]],
    ['AAAA'],
    ['AAAAA==='],
    ['not base64!'],
    ['AACAfw=='],
    ['AADAfw=='],
    [`${packVector([1])}\n`],
    [`AAAA ${packVector([1]).slice(4)}`],
    // The alphabet of addresses.
    ['-_-_AA=='],
  ] as [never][])('an embedding vector is not read from %p', (value) => {
    expect(readVector(value)).toBeUndefined()
  })
})
