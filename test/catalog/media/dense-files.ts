/** Files of a few bytes that are many tokens: for each kind of file that a request may carry, every way that is known. */
import { deflateSync } from 'node:zlib'
import { pages, pdfOf, repeatedPages, streamOf } from './sample-pdfs'

/** `tokens` is about what a reader makes of it at least. A `kind` is how the request carries it. */
export type DenseFile = { kind: string; way: string; mediaType: string; bytes: Buffer; tokens: number }

const CATALOG = '<< /Type /Catalog /Pages 2 0 R >>'
const TREE = '<< /Type /Pages /Kids [3 0 R] /Count 1 /MediaBox [0 0 612 792] >>'
/** Of many characters in few bytes. */
const LONG = 'ab ch de '.repeat(28).slice(0, 250)
const LETTERS = 'A'.repeat(4_000)
const SHOW = (text: string) => `BT /F 9 Tf 9 700 Td (${text}) Tj ET`
const RESOURCES = '/Resources << /Font << /F 5 0 R >> /XObject << /X 6 0 R >> >>'
/** A page, its content, its font as object 5, and more from 6 on. */
const page = (content: string, font: string, ...more: (string | Buffer)[]) => {
  const dictionary = `<< /Type /Page /Parent 2 0 R /Contents 4 0 R ${RESOURCES} >>`
  return pdfOf([CATALOG, TREE, dictionary, streamOf(content), font, ...(more.length > 0 ? more : [PICTURE])])
}
const HELVETICA = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>'
const PICTURE = streamOf(
  '\0',
  '/Type /XObject /Subtype /Image /Width 1 /Height 1 /BitsPerComponent 8 /ColorSpace /DeviceGray',
)
const hex = (text: string) => Buffer.from(text, 'utf16le').swap16().toString('hex')

/** A ToUnicode map with such lines. */
const mapOf = (...lines: string[]) =>
  streamOf(
    [
      '/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /U def /CMapType 2 def',
      ...lines,
      'endcmap CMapName currentdict /CMap defineresource pop end end',
    ].join('\n'),
  )
const mapped = (...lines: string[]): [string, Buffer, Buffer] => [
  '<< /Type /Font /Subtype /TrueType /BaseFont /A /ToUnicode 7 0 R >>',
  PICTURE,
  mapOf('1 begincodespacerange <00> <FF> endcodespacerange', ...lines),
]
const wide = (map: Buffer): [string, Buffer, Buffer, string, string] => [
  '<< /Type /Font /Subtype /Type0 /BaseFont /A /Encoding /Identity-H /ToUnicode 7 0 R /DescendantFonts [8 0 R] >>',
  PICTURE,
  map,
  '<< /Type /Font /Subtype /CIDFontType2 /BaseFont /A /CIDSystemInfo << /Registry (A) /Ordering (I) /Supplement 0 >> /FontDescriptor 9 0 R >>',
  '<< /Type /FontDescriptor /FontName /A /Flags 4 /FontBBox [0 0 9 9] /ItalicAngle 0 /Ascent 9 /Descent 0 /CapHeight 9 /StemV 9 >>',
]
const formOf = (content: string, more = '') =>
  streamOf(content, `/Type /XObject /Subtype /Form /BBox [0 0 612 792] ${more}`)

const PDFS: [way: string, bytes: Buffer, tokens: number][] = [
  ['pages named again and again', repeatedPages(600), 600 * 3_000],
  ['a map with long targets', page(SHOW(LETTERS), ...mapped(`1 beginbfchar <41> <${hex(LONG)}> endbfchar`)), 200_000],
  [
    'a range with long targets',
    page(SHOW(LETTERS), ...mapped(`1 beginbfrange <41> <42> <${hex(LONG)}> endbfrange`)),
    200_000,
  ],
  [
    'a list of long targets',
    page(SHOW(LETTERS), ...mapped(`1 beginbfrange <41> <42> [<${hex(LONG)}> <0041>] endbfrange`)),
    200_000,
  ],
  ['a map whose targets are texts', page(SHOW(LETTERS), ...mapped(`1 beginbfchar <41> (${LONG}) endbfchar`)), 200_000],
  [
    'a map that stands on another',
    page(SHOW(LETTERS), ...mapped('/Other usecmap', '1 beginbfchar <42> <0041> endbfchar')),
    200_000,
  ],
  [
    'a map to rare characters',
    page(SHOW('AB'.repeat(40_000)), ...mapped('2 beginbfchar <41> <D808DC00> <42> <A500> endbfchar')),
    200_000,
  ],
  [
    'codes of two bytes and a map to rare characters',
    page(
      `BT /F 9 Tf 9 700 Td <${'00410042'.repeat(20_000)}> Tj ET`,
      ...wide(mapOf('2 beginbfchar <0041> <D808DC00> <0042> <A500> endbfchar')),
    ),
    100_000,
  ],
  [
    'glyphs with long names',
    page(
      SHOW(LETTERS),
      `<< /Type /Font /Subtype /TrueType /BaseFont /A /Encoding << /Differences [65 /uni${hex(LONG.slice(0, 40))}] >> >>`,
    ),
    100_000,
  ],
  [
    'letters drawn as procedures',
    page(
      SHOW(LETTERS),
      '<< /Type /Font /Subtype /Type3 /CharProcs << /A 7 0 R >> /Encoding << /Differences [65 /A] >> >>',
    ),
    100_000,
  ],
  ['a form drawn again and again', page('/X Do '.repeat(900), HELVETICA, formOf(SHOW(LETTERS))), 1_000_000],
  [
    'forms within forms',
    page(
      '/X Do '.repeat(40),
      HELVETICA,
      formOf('/X Do '.repeat(40), '/Resources << /XObject << /X 7 0 R >> >>'),
      formOf(SHOW(LETTERS)),
    ),
    1_000_000,
  ],
  [
    'a form that says no kind',
    page('/X Do '.repeat(900), HELVETICA, streamOf(SHOW(LETTERS), '/BBox [0 0 9 9]')),
    1_000_000,
  ],
  [
    'a form that says inside that it is a picture',
    page('/X Do '.repeat(900), HELVETICA, streamOf(SHOW(LETTERS), '/BBox [0 0 9 9] /Group << /Subtype /Image >>')),
    1_000_000,
  ],
  [
    'words beside what is drawn, named again and again',
    pdfOf([
      CATALOG,
      TREE,
      `<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << /Font << /F 5 0 R >> /Properties << /P << /ActualText (${LONG}) >> >> >> >>`,
      streamOf(`BT /F 9 Tf 9 700 Td ${'/Span /P BDC (a) Tj EMC '.repeat(4_000)} ET`),
      HELVETICA,
    ]),
    200_000,
  ],
  [
    'words beside what is drawn, written out',
    page(`BT /F 9 Tf ${`/Span << /ActualText <FEFFA500> >> BDC (a) Tj EMC `.repeat(4_000)} ET`, HELVETICA),
    4_000,
  ],
  ['an object stream', page(SHOW('a'), HELVETICA, streamOf('9 0 << >>', '/Type /ObjStm /N 1 /First 4')), 1_000_000],
  ['text that packs well', page(SHOW('1 2 3 4 '.repeat(30_000)), HELVETICA), 200_000],
  [
    'text packed twice',
    page(
      SHOW('a'),
      HELVETICA,
      PICTURE,
      streamOf(deflateSync('x').toString('latin1'), '/Filter [/FlateDecode /FlateDecode]'),
    ),
    0,
  ],
  [
    'notes that look alike',
    pdfOf([
      CATALOG,
      TREE,
      `<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Annots [${'5 0 R '.repeat(500)}] >>`,
      streamOf(SHOW('a')),
      '<< /Type /Annot /Subtype /FreeText /Rect [0 0 9 9] /AP << /N 6 0 R >> >>',
      formOf(SHOW(LETTERS)),
    ]),
    1_000_000,
  ],
  [
    'a pattern of text',
    page('/Pattern cs /X scn 0 0 600 700 re f', HELVETICA, streamOf(SHOW(LETTERS), '/PatternType 1 /BBox [0 0 9 9]')),
    1_000_000,
  ],
  [
    'a mask of text',
    page(
      `${'/G gs '.repeat(900)}`,
      HELVETICA,
      PICTURE,
      '<< /Type /ExtGState /SMask << /S /Alpha /G 8 0 R >> >>',
      streamOf(SHOW(LETTERS)),
    ),
    1_000_000,
  ],
  [
    'a file within',
    page(SHOW('a'), HELVETICA, PICTURE, '<< /Type /Filespec /EF << /F 8 0 R >> >>', streamOf('x'.repeat(9))),
    1_000_000,
  ],
  [
    'an object hidden in a stream',
    page(SHOW('a'), HELVETICA, PICTURE, streamOf('9 0 obj\n<< /Kids [3 0 R] >>\nendobj', '/Type /Metadata')),
    1_000_000,
  ],
  [
    'an object defined twice',
    Buffer.concat([pages(1), Buffer.from('3 0 obj\n<< /Type /Page /Contents 4 0 R >>\nendobj\n')]),
    1_000_000,
  ],
  [
    'a table that points elsewhere',
    Buffer.concat([
      pages(1),
      Buffer.from('xref\n3 1\n0000000010 00000 n \ntrailer << /Root 1 0 R >>\nstartxref\n9\n%%EOF'),
    ]),
    1_000_000,
  ],
]

const OTHERS: DenseFile[] = [
  {
    kind: 'file',
    way: 'a PDF sent as a picture',
    mediaType: 'image/png',
    bytes: repeatedPages(600),
    tokens: 1_000_000,
  },
  { kind: 'file', way: 'a PDF sent as text', mediaType: 'text/plain', bytes: repeatedPages(600), tokens: 1_000_000 },
  {
    kind: 'file',
    way: 'text in UTF-16',
    mediaType: 'text/plain',
    bytes: Buffer.from(`\ufeff${'\ua500'.repeat(5_000)}`, 'utf16le'),
    tokens: 15_000,
  },
  {
    kind: 'file',
    way: 'text that says its encoding',
    mediaType: 'text/csv; charset=utf-16le',
    bytes: Buffer.from('\u4e41'.repeat(5_000), 'utf16le'),
    tokens: 15_000,
  },
  {
    kind: 'file',
    way: 'text in Latin-1',
    mediaType: 'text/plain',
    bytes: Buffer.from('\xfc\xdf'.repeat(5_000), 'latin1'),
    tokens: 20_000,
  },
  {
    kind: 'file',
    way: 'an archive',
    mediaType: 'application/zip',
    bytes: Buffer.from('PK\x03\x04'),
    tokens: 1_000_000,
  },
  {
    kind: 'file',
    way: 'an archive sent as text',
    mediaType: 'text/plain',
    bytes: Buffer.from('PK\x03\x04'),
    tokens: 1_000_000,
  },
  {
    kind: 'file',
    way: 'an archive sent as a picture',
    mediaType: 'image/png',
    bytes: Buffer.from('PK\x03\x04'),
    tokens: 1_000_000,
  },
  {
    kind: 'file',
    way: 'an office document',
    mediaType: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    bytes: Buffer.from('PK\x03\x04'),
    tokens: 1_000_000,
  },
  {
    kind: 'file',
    way: 'an old office document',
    mediaType: 'application/msword',
    bytes: Buffer.from('\xd0\xcf\x11\xe0', 'latin1'),
    tokens: 1_000_000,
  },
  {
    kind: 'file',
    way: 'a video of one picture a minute',
    mediaType: 'video/mp4',
    bytes: Buffer.from('ftypisom'),
    tokens: 1_000_000,
  },
  {
    kind: 'image',
    way: 'a video sent as a picture',
    mediaType: 'video/webm',
    bytes: Buffer.from('\x1aE'),
    tokens: 1_000_000,
  },
  {
    kind: 'image',
    way: 'a large picture of text in few bytes',
    mediaType: 'image/png',
    bytes: Buffer.from('\x89PNG', 'latin1'),
    tokens: 12_000,
  },
  {
    kind: 'audio',
    way: 'silence in a codec that packs it away',
    mediaType: 'audio/ogg',
    bytes: Buffer.from('OggS'),
    tokens: 1_000_000,
  },
  {
    kind: 'file',
    way: 'a sound sent as a file',
    mediaType: 'audio/opus',
    bytes: Buffer.from('OggS'),
    tokens: 1_000_000,
  },
]

/** All of them. */
export const DENSE_FILES: readonly DenseFile[] = [
  ...PDFS.map(([way, bytes, tokens]) => ({ kind: 'file', way, mediaType: 'application/pdf', bytes, tokens })),
  ...OTHERS,
]

/** PDFs of one page as usual tools make them. */
export const USUAL_PDFS: readonly { tool: string; bytes: Buffer }[] = [
  { tool: 'a writer with a font of the reader’s', bytes: page(SHOW('Plain words of a page. '.repeat(120)), HELVETICA) },
  {
    tool: 'an office, with a map of letters and ligatures',
    bytes: page(
      SHOW('\\001\\002\\003'.repeat(900)),
      ...mapped(
        '2 beginbfchar <01> <0061> <02> <006600660069> endbfchar',
        '1 beginbfrange <03> <04> <0062> endbfrange',
      ),
    ),
  },
  {
    tool: 'a browser, with codes of two bytes and words for ligatures',
    bytes: page(
      `BT /F 9 Tf 9 700 Td ${'<0041> Tj /Span <</ActualText (fi) >> BDC <0042> Tj EMC 4.65 0 Td '.repeat(700)} ET`,
      ...wide(mapOf('1 beginbfrange <0041> <0042> <0061> endbfrange')),
    ),
  },
]
