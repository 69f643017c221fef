/** Small files with many tokens: each known trick stays within the file's bound, and usual PDFs stay affordable. */
import { describe, expect, test } from 'bun:test'
import { requestOf } from '@test/catalog/sample-requests'
import { inputBound, measurePrompt } from '@/catalog/estimate'
import { pdfTokens } from '@/catalog/media/pdf-tokens'
import type { ContentBlock } from '@/chat/request'
import { DENSE_FILES, type DenseFile, USUAL_PDFS } from './dense-files'
import { PAGE_TOKENS } from './sample-pdfs'

const CONTEXT = 1_000_000

function blockOf({ kind, mediaType, bytes }: DenseFile): ContentBlock {
  const data = bytes.toString('base64')
  if (kind === 'audio') return { type: 'audio', mediaType, data }
  return { type: kind === 'image' ? 'image' : 'file', source: { type: 'base64', mediaType, data } }
}

describe('a small file with much text counts as all its tokens, or as a whole context', () => {
  test.each(DENSE_FILES.map((file) => [`${file.mediaType.split(';')[0]}: ${file.way}`, file] as const))(
    '%s',
    (_, file) => {
      const request = requestOf([blockOf(file)])
      const bound = inputBound(measurePrompt(request), file.bytes.length * 1.4, CONTEXT)
      expect(bound).toBeGreaterThanOrEqual(Math.min(file.tokens, CONTEXT))
    },
  )
})

describe('a usual PDF does not count as a whole context', () => {
  test.each(USUAL_PDFS.map(({ tool, bytes }) => [tool, bytes] as const))(
    'a usual PDF made by %s counts far less than a whole context',
    (_, bytes) => {
      expect(pdfTokens(bytes, CONTEXT)).toBeLessThan(2 * PAGE_TOKENS + bytes.length)
    },
  )
})
