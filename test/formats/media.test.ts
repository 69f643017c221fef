/** File names sent to services, which recognise a file's type by the extension and refuse a file without one. */
import { describe, expect, test } from 'bun:test'
import type { FileBlock } from '@/chat/request'
import { encodeUserBlock as encodeForChat } from '@/formats/chat-completions/provider-side/encode-content'
import { filenameFor } from '@/formats/media'
import { encodeUserBlock as encodeForResponses } from '@/formats/responses/provider-side/encode-content'

const DOCX = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'

describe('the name under which a file is sent', () => {
  test.each([
    ['application/pdf', 'Annual report', 'Annual report.pdf'],
    ['application/pdf', 'report.v2', 'report.v2.pdf'],
    ['application/pdf', 'report.PDF', 'report.PDF'],
    ['Application/PDF; charset=binary', 'Annual report', 'Annual report.pdf'],
    ['application/pdf', undefined, 'file.pdf'],
    ['application/pdf', '', 'file.pdf'],
    [DOCX, 'Letter', 'Letter.docx'],
    [DOCX, 'Letter.doc', 'Letter.doc.docx'],
    ['application/vnd.ms-excel', 'Sums', 'Sums.xls'],
    ['application/octet-stream', 'data', 'data'],
    ['application/octet-stream', undefined, 'file'],
  ])('the file name of %s called %p is %s', (mediaType, given, name) =>
    expect(filenameFor(mediaType, given)).toBe(name),
  )
})

test("a file's name has the extension of its media type at every provider that needs a name", () => {
  const titled = (mediaType: string): FileBlock => ({
    type: 'file',
    source: { type: 'base64', mediaType, data: 'JVBE' },
    filename: 'Annual report',
  })
  for (const [mediaType, filename] of [
    ['application/pdf', 'Annual report.pdf'],
    [DOCX, 'Annual report.docx'],
  ] as const) {
    const file_data = `data:${mediaType};base64,JVBE`
    expect(encodeForChat(titled(mediaType), new Set())).toEqual([{ type: 'file', file: { filename, file_data } }])
    expect(encodeForResponses(titled(mediaType), new Set())).toEqual([{ type: 'input_file', filename, file_data }])
  }
})
