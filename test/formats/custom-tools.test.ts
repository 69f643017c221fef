/** A custom tool's text is decoded from the arguments of a function while they stream, and no part of it is lost. */
import { describe, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import { createCustomInput, customArguments, customInput } from '@/formats/custom-tools'

/** What is told piece by piece, the last of them at the end. */
function told(pieces: string[]): string[] {
  const reader = createCustomInput()
  return [...pieces.map((piece) => reader.push(piece)), reader.end()]
}

/** Cuts between code points, where pieces that came as UTF-8 are cut. */
function cut(text: string, lengths: number[]): string[] {
  const points = [...text]
  const pieces: string[] = []
  for (let at = 0, turn = 0; at < points.length; turn++) {
    const length = lengths[turn % lengths.length] ?? 1
    pieces.push(points.slice(at, at + length).join(''))
    at += length
  }
  return pieces
}

/** As some writers do: nothing but ASCII. */
function escaped(json: string): string {
  return json.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom('"', '\\', 'u', 'd83d', '😀', '\n', '}') }),
)
const lengths = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 })

describe("a custom tool's text", () => {
  test("a custom tool's text is the same however its arguments are written and cut", () => {
    fc.assert(
      fc.property(text, lengths, fc.constantFrom('', ' ', '\n  '), fc.boolean(), (input, sizes, space, isAscii) => {
        const plain = `{${space}"input":${space}${JSON.stringify(input)}${space}}`
        const written = isAscii ? escaped(plain) : plain
        const pieces = told(cut(written, sizes))
        expect(pieces.join('')).toBe(input)
        expect(pieces.every((piece) => piece.isWellFormed())).toBe(input.isWellFormed())
        expect(customInput(written)).toBe(input)
      }),
    )
  })

  test('a custom tool’s text is streamed while the model writes it', () => {
    expect(told(['{"input":"*** Be', 'gin\\', 'nPatch', ' \\u00', 'e9"', '}'])).toEqual([
      '*** Be',
      'gin',
      '\nPatch',
      ' ',
      'é',
      '',
      '',
    ])
  })

  test('a custom tool’s text that the output limit cut off is read up to the cut', () => {
    const written = customArguments('one\ntwo').slice(0, -4)
    expect(told([written]).join('')).toBe('one\nt')
    expect(customInput(written)).toBe('one\nt')
    expect(told(['{"input":"a\\ud83d']).join('')).toBe('a\ud83d')
  })

  test.each([
    ['*** Begin', '*** Begin'],
    ['"a word"', 'a word'],
    ['{"patch":"x"}', '{"patch":"x"}'],
    ['{"note":1,"input":"x"}', 'x'],
    ['{"input":7}', '{"input":7}'],
    [`${' '.repeat(2_000)}{"input":"x"}`, 'x'],
    ['{"input":"a\nraw line"}', 'a\nraw line'],
    ['{"input":"a bad \\x escape"}', 'a bad \\x escape'],
  ])('a custom tool call with malformed arguments loses no text: %p', (written, whole) => {
    expect(told([...written]).join('')).toBe(whole)
    expect(customInput(written)).toBe(whole)
  })
})
