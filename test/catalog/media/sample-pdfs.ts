/** A small writer of PDFs: honest ones, and ones that hide how much there is in them. */
import { deflateSync } from 'node:zlib'

/** Objects by their numbers, from 1; a string or the bytes of a whole object. */
export function pdfOf(objects: (string | Buffer)[]): Buffer {
  const parts = objects.map((body, index) =>
    Buffer.concat([
      Buffer.from(`${index + 1} 0 obj\n`, 'latin1'),
      typeof body === 'string' ? Buffer.from(body, 'latin1') : body,
      Buffer.from('\nendobj\n', 'latin1'),
    ]),
  )
  const end = `trailer << /Root 1 0 R /Size ${objects.length + 1} >>\n%%EOF\n`
  return Buffer.concat([Buffer.from('%PDF-1.4\n', 'latin1'), ...parts, Buffer.from(end, 'latin1')])
}

/** A stream object; packed unless it says how it is packed itself. */
export function streamOf(content: string, dictionary?: string): Buffer {
  const packed = dictionary === undefined ? deflateSync(content) : Buffer.from(content, 'latin1')
  const head = dictionary ?? `/Filter /FlateDecode /Length ${packed.length}`
  return Buffer.concat([Buffer.from(`<< ${head} >>\nstream\n`), packed, Buffer.from('\nendstream')])
}

/** As many pages, each with content of its own: the catalogue is object 1, the page tree 2, then a page and its content by turns. */
export function pages(count: number, content: (page: number) => string = () => 'BT (Hello) Tj ET', tree = ''): Buffer {
  const numbers = Array.from({ length: count }, (_, page) => 3 + page * 2)
  const kids = numbers.map((number) => `${number} 0 R`).join(' ')
  return pdfOf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${kids}] /Count ${count} ${tree}>>`,
    ...numbers.flatMap((number, page) => [
      `<< /Type /Page /Parent 2 0 R /Contents ${number + 1} 0 R /MediaBox [0 0 612 792] >>`,
      streamOf(content(page)),
    ]),
  ])
}

/** As many empty pages in as few bytes as page objects used again and again need. */
export function repeatedPages(count: number): Buffer {
  return pdfOf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${'3 0 R '.repeat(count)}] /Count ${count} >>`,
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] >>',
  ])
}
