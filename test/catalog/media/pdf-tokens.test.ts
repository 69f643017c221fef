/** The token bound of PDFs: by pages if the file is plain, a whole context if its length is hidden. */
import { describe, expect, test } from 'bun:test'
import { deflateSync } from 'node:zlib'
import { fc } from '@test/support/property'
import { pdfTokens } from '@/catalog/media/pdf-tokens'
import { PAGE_TOKENS, pages, pdfOf, repeatedPages, streamOf } from './sample-pdfs'

const MOST = 2_000_000
const UNKNOWN = Number.POSITIVE_INFINITY
const CATALOG = '<< /Type /Catalog /Pages 2 0 R >>'
const PAGE = '<< /Type /Page /Parent 2 0 R >>'
const DRAWN = '<< /Type /Page /Parent 2 0 R /Contents 4 0 R >>'
/** Packed as it is, so that the words that end and begin a stream stand in its bytes. */
const STORED = deflateSync('endstream stream'.repeat(9), { level: 0 }).toString('latin1')
const boundOf = (bytes: Buffer) => pdfTokens(bytes, MOST)
/** One page beside these objects, from number 4 on. */
const onePage = (page: string, ...more: (string | Buffer)[]) =>
  pdfOf([CATALOG, '<< /Type /Pages /Kids [3 0 R] /Count 1 >>', page, ...more])

describe('an honest PDF', () => {
  test.each([1, 3, 100])('a PDF of %p pages counts as that many full pages, plus a little', (count) => {
    const bound = boundOf(pages(count))
    expect(bound).toBeGreaterThanOrEqual(count * PAGE_TOKENS)
    expect(bound).toBeLessThan(count * (PAGE_TOKENS + 600) + 1_000)
  })

  test('the page count includes page tree nodes, and objects that look like pages', () => {
    const kids = ['<< /Type /Pages /Kids [4 0 R 5 0 R] >>', PAGE, PAGE]
    const tree = pdfOf([CATALOG, '<< /Type /Pages /Kids [3 0 R] /Count 2 >>', ...kids])
    expect(Math.floor(boundOf(tree) / PAGE_TOKENS)).toBe(3)
    const loose = pdfOf([CATALOG, '<< /Type /Pages /Kids [3 0 R] >>', PAGE, PAGE, PAGE, PAGE])
    expect(Math.floor(boundOf(loose) / PAGE_TOKENS)).toBe(4)
  })

  test('compressed streams of a PDF are unpacked, and their text is counted', () => {
    const text = (page: number) => `BT (${`word ${page} `.repeat(20_000)}) Tj ET`
    const file = pages(1, text)
    expect(file.length).toBeLessThan(2_000)
    expect(boundOf(file)).toBeGreaterThan(PAGE_TOKENS + 60_000)
  })

  test('a PDF with comments in place of white space is accepted', () => {
    const file = pdfOf([CATALOG, '<< /Type /Pages /Kids%\n[3 0 R] >>', PAGE])
    expect(Math.floor(boundOf(file) / PAGE_TOKENS)).toBe(1)
  })

  test('a PDF with annotations and pictures is accepted', () => {
    const note = '<< /Type /Annot /Contents (a note) >>'
    const picture = streamOf('\xff\xd8\xff', '/Subtype /Image /Filter /DCTDecode')
    const file = onePage('<< /Type /Page /Contents [6 0 R 7 0 R] >>', note, picture, streamOf('a'), streamOf('b'))
    expect(Math.floor(boundOf(file) / PAGE_TOKENS)).toBe(1)
  })
})

describe('the page count in the page tree', () => {
  test.each(['0', '1', '-5', '99999999999999999999999', '(x)'])(
    'a page count of %p stated in the page tree changes nothing',
    (count) => {
      const [honest, lying] = [pages(20), pages(20, undefined, count)]
      expect(Math.floor(boundOf(lying) / PAGE_TOKENS)).toBe(Math.floor(boundOf(honest) / PAGE_TOKENS))
    },
  )
})

describe('PDFs that count as a whole context', () => {
  test('600 empty pages in a small PDF count as a whole context', () => {
    const file = repeatedPages(600)
    expect(file.length).toBeLessThan(6_500)
    expect(boundOf(file)).toBe(UNKNOWN)
    expect(boundOf(pages(600))).toBe(UNKNOWN)
  })

  test.each<[string, Buffer]>([
    ['no structure', Buffer.from('%PDF-1.4\nnothing')],
    ['no bytes', Buffer.alloc(0)],
    ['an object stream', onePage(PAGE, streamOf('1 0 2 50 <<>> <<>>', '/Type /ObjStm /N 2 /First 8'))],
    ['a cross-reference stream', onePage(PAGE, streamOf('', '/Type /XRef /W [1 2 1]'))],
    ['encryption', onePage(PAGE, '<< /Encrypt 5 0 R >>')],
    ['a form that pages may draw often', onePage(PAGE, streamOf('(x) Tj', '/Type /XObject /Subtype /Form'))],
    ['a filter that the reader does not undo', onePage(DRAWN, streamOf('xx', '/Filter /LZWDecode'))],
    ['a filter name in short form', onePage(DRAWN, streamOf('xx', '/Filter /RL'))],
    [
      'a filter used twice',
      onePage(DRAWN, streamOf(deflateSync('x').toString('latin1'), '/Filter [/FlateDecode /FlateDecode]')),
    ],
    ['names spelt with escapes', onePage('<< /Type /Page /K#69ds [3 0 R] >>')],
    ['a tree with a cycle', pdfOf([CATALOG, '<< /Type /Pages /Kids [3 0 R] >>', '<< /Type /Pages /Kids [3 0 R] >>'])],
    ['a node used twice', pdfOf([CATALOG, '<< /Kids [3 0 R 03 0 R] >>', PAGE])],
    ['kids stated in another object', pdfOf([CATALOG, '<< /Type /Pages /Kids 4 0 R >>', PAGE, '[3 0 R 3 0 R]'])],
    ['kids stated as objects, not references', pdfOf([CATALOG, '<< /Type /Pages /Kids [<< /Type /Page >>] >>'])],
    ['a list of kids without an end', Buffer.from('%PDF-1.4 /Kids [3 0 R 4 0 R')],
    ['content used twice', onePage('<< /Type /Page /Contents [4 0 R 4 0 R] >>', streamOf('x'))],
    [
      'a content array stated in another object',
      onePage('<< /Type /Page /Contents 4 0 R >>', '[5 0 R 5 0 R]', streamOf('x')),
    ],
    ['a decompression bomb', onePage(DRAWN, streamOf('\0'.repeat(20_000_000)))],
    [
      'a stream cut off',
      onePage(DRAWN, streamOf(deflateSync('x'.repeat(999)).toString('latin1').slice(0, 9), '/Filter /FlateDecode')),
    ],
    ['a stream without an end', Buffer.concat([pages(1), Buffer.from('stream\n')])],
    ['a stream in a stream', onePage(PAGE, streamOf(STORED, '/Filter /FlateDecode'))],
  ])('this PDF counts as a whole context: %s', (_, bytes) => {
    expect(boundOf(bytes)).toBe(UNKNOWN)
  })
})

describe('hostile files', () => {
  // Each would take many minutes, and so hit the limit of the whole run, where the work grew with the square of the size.
  test.each([
    '/Kids [',
    '/Kids [1 0 R ',
    '/Contents ',
    '1 0 R ',
    '/Page',
    '1 ',
    'stream',
    'stream\nx\x9c',
    'stream\nx\x9cendstream',
    'endstream',
    '/Kids\n\n\n\n',
    ' ',
    '/',
    '1 0 obj ',
    '<',
    '(',
    '\\',
    '% ',
    '<<',
    '/A#',
    'xref\n',
    'beginbfchar ',
    'endbfchar ',
  ])('a PDF that repeats %p is read in linear time', (piece) => {
    const filler = Buffer.from(piece.repeat(Math.floor(900_000 / piece.length)), 'latin1')
    expect(boundOf(Buffer.concat([Buffer.from('%PDF-1.4\n'), filler]))).toBe(UNKNOWN)
    expect(boundOf(Buffer.concat([pages(1), filler]))).toBeGreaterThan(PAGE_TOKENS + 900_000 - piece.length)
    expect(boundOf(onePage(DRAWN, streamOf(piece.repeat(900_000 / piece.length))))).toBeGreaterThan(PAGE_TOKENS)
  })

  test('a PDF of random bytes never throws, and never counts below its size', () => {
    const words = fc.constantFrom(
      '/Kids',
      '[',
      ']',
      '3 0 R',
      '/Contents',
      '(',
      'stream\n',
      'endstream',
      '/Fl',
      '/Page',
      'x\x9c',
    )
    const piece = fc.oneof(words, fc.string({ unit: 'binary', maxLength: 5 }))
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (parts) => {
        const bytes = Buffer.from(parts.join(' '), 'latin1')
        expect(boundOf(bytes)).toBeGreaterThanOrEqual(bytes.length)
      }),
      { numRuns: 300 },
    )
  })
})
