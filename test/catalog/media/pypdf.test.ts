/** The hold for a PDF is never below the tokens of the text that pypdf, a real reader, extracts from it. */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { preparePython } from '@test/clients/python/environment'
import { encode } from 'gpt-tokenizer/encoding/o200k_base'
import { pdfTokens } from '@/catalog/media/pdf-tokens'
import { DENSE_FILES, USUAL_PDFS } from './dense-files'
import { pages } from './sample-pdfs'

const MOST = 1_000_000
const FILES = [
  ...DENSE_FILES.filter(({ mediaType }) => mediaType === 'application/pdf').map(({ way, bytes }) => ({
    name: way,
    bytes,
  })),
  ...USUAL_PDFS.map(({ tool, bytes }) => ({ name: tool, bytes })),
  { name: 'many pages', bytes: pages(50, (page) => `BT /F 9 Tf (Page ${page} of the report) Tj ET`) },
]
const python = await preparePython('readers', (line) => process.stderr.write(`${line}\n`))

test.skipIf(!python)(
  'pdfTokens is at least the number of tokens in the text that pypdf extracts, or unknown',
  async () => {
    const running = Bun.spawn([python ?? '', join(import.meta.dir, 'pypdf_texts.py')], {
      stdin: new Blob([JSON.stringify(FILES.map(({ bytes }) => bytes.toString('base64')))]),
      stderr: 'inherit',
    })
    const texts: string[] = JSON.parse(await new Response(running.stdout).text())
    expect(texts).toHaveLength(FILES.length)
    for (const [index, { name, bytes }] of FILES.entries()) {
      const text = texts[index] as string
      // The files are what they say: small, and long to a reader.
      if (name.includes('long targets')) expect(text.length).toBeGreaterThan(900_000)
      const bound = pdfTokens(bytes, MOST)
      if (Number.isFinite(bound)) expect([name, bound]).toEqual([name, Math.max(bound, encode(text).length)])
    }
  },
)
