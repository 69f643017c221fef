/** Text files in the encodings that banks use. */
import { expect, test } from 'bun:test'
import { decodeText } from '@/lib/decode-text'

const utf16be = (text: string) => new Uint8Array(Buffer.from(text, 'utf16le').swap16())
const utf16le = (text: string) => new Uint8Array(Buffer.from(text, 'utf16le'))
const latin = (text: string) => new Uint8Array(Buffer.from(text, 'latin1'))
const utf8 = (text: string) => new TextEncoder().encode(text)
const declared = (encoding: string) => `<?xml version="1.0" encoding="${encoding}"?><a>ä</a>`

test.each([
  ['CSV in UTF-8', utf8('Währung;€'), 'Währung;€'],
  ['CSV in UTF-8 with a byte order mark', utf8('\uFEFFWährung'), 'Währung'],
  ['CSV in Windows-1252', latin('W\u00e4hrung;\u0080'), 'Währung;€'],
  ['CSV in UTF-16 with a byte order mark', utf16le('\uFEFFWährung'), 'Währung'],
  ['XML without a declaration', utf8('<a>ä</a>'), '<a>ä</a>'],
  ['XML that declares ISO-8859-1', latin(declared('ISO-8859-1')), declared('ISO-8859-1')],
  ['XML that declares ISO-8859-15', latin(declared('ISO-8859-15').replace('ä', '\u00a4')), '€'],
  ['XML in UTF-16LE without a byte order mark', utf16le(declared('UTF-16')), declared('UTF-16')],
  ['XML in UTF-16BE with a byte order mark', utf16be(`\uFEFF${declared('UTF-16')}`), declared('UTF-16')],
  ['nothing', utf8(''), ''],
])('decodeText reads %s', (_, bytes, text) => {
  const decoded = decodeText(bytes)
  expect(decoded).toEqual({ kind: 'decoded', text: expect.stringContaining(text) })
})

test.each([
  ['an unknown encoding', utf8(declared('x-none')), 'The encoding x-none is not known.'],
  [
    'XML that is not in UTF-8, and declares it',
    latin(declared('UTF-8')),
    'The file is not written in its encoding, UTF-8.',
  ],
  [
    'XML that is not in UTF-8, and declares nothing',
    latin('<a>ä</a>'),
    'The file is not written in its encoding, utf-8.',
  ],
])('decodeText refuses %s', (_, bytes, fault) => {
  expect(decodeText(bytes)).toEqual({ kind: 'faulty', fault })
})
