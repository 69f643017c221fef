/** A small writer of PDFs: honest ones, and ones that hide how much there is in them. */
import { deflateSync } from 'node:zlib'

/** A page is reserved for as at least so many. */
export const PAGE_TOKENS = 8_000

/** Objects by their numbers, from 1; a string or the bytes of a whole object. */
export function pdfOf(objects: (string | Buffer)[]): Buffer {
  const parts = objects.map((body, index) =>
    Buffer.concat([
      Buffer.from(`${index + 1} 0 obj\n`, 'latin1'),
      typeof body === 'string' ? Buffer.from(body, 'latin1') : body,
      Buffer.from('\nendobj\n', 'latin1'),
    ]),
  )
  const head = Buffer.from('%PDF-1.4\n', 'latin1')
  const entries: string[] = []
  let at = head.length
  for (const part of parts) {
    entries.push(`${String(at).padStart(10, '0')} 00000 n \n`)
    at += part.length
  }
  const table = `xref\n0 ${parts.length + 1}\n0000000000 65535 f \n${entries.join('')}`
  const end = `${table}trailer\n<< /Root 1 0 R /Size ${parts.length + 1} >>\nstartxref\n${at}\n%%EOF\n`
  return Buffer.concat([head, ...parts, Buffer.from(end, 'latin1')])
}

/** A stream object; packed unless it says how it is packed itself. */
export function streamOf(content: string, dictionary?: string): Buffer {
  const packed = dictionary === undefined ? deflateSync(content) : Buffer.from(content, 'latin1')
  const head = dictionary ?? '/Filter /FlateDecode'
  return Buffer.concat([
    Buffer.from(`<< ${head} /Length ${packed.length} >>\nstream\n`),
    packed,
    Buffer.from('\nendstream'),
  ])
}

/** As many pages, each with content of its own, under a tree that states so many: the catalogue is object 1, the page tree 2, then a page and its content by turns. */
export function pages(
  count: number,
  content: (page: number) => string = () => 'BT (Hello) Tj ET',
  stated = `${count}`,
): Buffer {
  const numbers = Array.from({ length: count }, (_, page) => 3 + page * 2)
  const kids = numbers.map((number) => `${number} 0 R`).join(' ')
  return pdfOf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${kids}] /Count ${stated} >>`,
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
