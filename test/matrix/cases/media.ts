/** Images, files and audio: as bytes, as addresses, and as ids that only one provider knows. */
import type { Group } from '@test/matrix/types'
import type { JsonObject } from '@/lib/json'
import { imageResult } from './image-result'
import {
  CAT,
  CLIP,
  document,
  fileData,
  image,
  imageUrl,
  inline,
  inputFile,
  inputImage,
  PDF,
  PNG,
  pdfBytes,
  pdfFile,
  see,
  WAV,
  withInputText,
  withText,
} from './media-parts'
import { AS_ASKED, TEXT } from './words'

const imageAsks = see(
  [imageUrl(`data:image/png;base64,${PNG}`)],
  [image({ type: 'base64', media_type: 'image/png', data: PNG })],
  [inline('image/png', PNG)],
  [inputImage(`data:image/png;base64,${PNG}`)],
)
const addressAsks = see(
  [imageUrl(CAT)],
  [image({ type: 'url', url: CAT })],
  [fileData(CAT, 'image/png')],
  [inputImage(CAT)],
)

const videoUrl = (url: string): JsonObject => ({ type: 'video_url', video_url: { url } })
const NONE = { refused: 'takes no video', because: 'the format has no videos' }
const NO_VIDEO = { answer: TEXT, pairs: { '*>messages': NONE, '*>chat-completions': NONE, '*>responses': NONE } }

const NO_DETAIL = { lost: 'the format has no level of detail' }
const FILE_ID = {
  refused: 'Files cannot be named by id',
  because: 'a file id works at one provider only',
}

export const media: Group = {
  name: 'Images and files',
  cases: [
    { name: 'image as bytes', asks: imageAsks, answer: TEXT },
    {
      name: 'image by URL',
      asks: addressAsks,
      answer: TEXT,
      pairs: {
        '*>generate-content': {
          refused: 'does not fetch addresses',
          because: 'neither provider nor gateway fetches URLs',
        },
      },
    },
    {
      name: 'image by URL, for a provider that fetches',
      asks: addressAsks,
      quirks: { 'generate-content': ['file-uri'] },
      providers: ['generate-content'],
      answer: TEXT,
    },
    {
      name: 'image by URL, for a provider without URLs',
      asks: addressAsks,
      quirks: { messages: ['no-url-sources'] },
      providers: ['messages'],
      answer: TEXT,
      pairs: {
        'messages>messages': { lost: AS_ASKED },
        '*>messages': {
          refused: 'addresses',
          because: 'neither provider nor gateway fetches URLs',
        },
      },
    },
    {
      name: 'image with a level of detail',
      asks: see([imageUrl(CAT, { detail: 'low' })], undefined, undefined, [inputImage(CAT, { detail: 'low' })]),
      golden: see(undefined, [image({ type: 'url', url: CAT })], [fileData(CAT, 'image/png')]),
      quirks: { 'generate-content': ['file-uri'] },
      answer: TEXT,
      pairs: { '*>messages': NO_DETAIL, '*>generate-content': NO_DETAIL },
    },
    {
      name: 'TIFF image',
      asks: see(
        [imageUrl(`data:image/tiff;base64,${PNG}`)],
        [image({ type: 'base64', media_type: 'image/tiff', data: PNG })],
        [inline('image/tiff', PNG)],
        [inputImage(`data:image/tiff;base64,${PNG}`)],
      ),
      answer: TEXT,
      pairs: { '*>messages': { refused: 'JPEG, PNG, GIF or WebP' } },
    },
    {
      name: 'PDF as bytes',
      asks: see(
        [pdfFile('report.pdf')],
        [document(pdfBytes, { title: 'report.pdf' })],
        [inline('application/pdf', PDF)],
        [inputFile('report.pdf')],
      ),
      answer: TEXT,
      pairs: {
        '*>generate-content': { lost: 'the format has no names of files' },
        'generate-content>chat-completions': { receives: { messages: [withText([pdfFile('file.pdf')])] } },
        'generate-content>messages': { receives: { messages: [withText([document(pdfBytes)])] } },
        'generate-content>responses': { receives: { input: [withInputText([inputFile('file.pdf')])] } },
      },
    },
    {
      name: 'PDF by URL',
      asks: see(
        undefined,
        [document({ type: 'url', url: 'https://example.com/report.pdf' })],
        [fileData('https://example.com/report.pdf', 'application/pdf')],
        [{ type: 'input_file', file_url: 'https://example.com/report.pdf' }],
      ),
      answer: TEXT,
      pairs: {
        '*>chat-completions': { refused: 'cannot read a file from a URL' },
        '*>generate-content': { refused: 'does not fetch addresses' },
      },
    },
    {
      name: 'video as bytes',
      asks: see([videoUrl('data:video/mp4;base64,AAAA')], undefined, [inline('video/mp4', 'AAAA')]),
      ...NO_VIDEO,
    },
    {
      name: 'video by URL',
      asks: see([videoUrl(CLIP)], undefined, [fileData(CLIP, 'video/mp4')]),
      quirks: { 'generate-content': ['file-uri'] },
      ...NO_VIDEO,
    },
    {
      name: 'text document',
      asks: see(
        undefined,
        [document({ type: 'text', media_type: 'text/plain', data: 'Once upon a time' }, { title: 'tale.txt' })],
        [inline('text/plain', Buffer.from('Once upon a time').toString('base64'))],
      ),
      golden: see([{ type: 'text', text: 'Once upon a time' }], undefined, undefined, [
        { type: 'input_text', text: 'Once upon a time' },
      ]),
      answer: TEXT,
      pairs: {
        '*>chat-completions': { lost: 'becomes text of the message' },
        '*>responses': { lost: 'becomes text of the message' },
        'messages>responses': {
          receives: {
            input: [
              withInputText([
                { type: 'input_text', text: '<document name="tale.txt">\nOnce upon a time\n</document>' },
              ]),
            ],
          },
        },
        'messages>chat-completions': {
          receives: {
            messages: [withText([{ type: 'text', text: '<document name="tale.txt">\nOnce upon a time\n</document>' }])],
          },
        },
        'messages>generate-content': { lost: 'the format has no names of files' },
        'generate-content>messages': {
          receives: {
            messages: [withText([document({ type: 'text', media_type: 'text/plain', data: 'Once upon a time' })])],
          },
        },
      },
    },
    {
      name: 'audio',
      asks: see(
        [{ type: 'input_audio', input_audio: { data: WAV, format: 'wav' } }],
        undefined,
        [inline('audio/wav', WAV)],
        [{ type: 'input_audio', input_audio: { data: WAV, format: 'wav' } }],
      ),
      answer: TEXT,
      pairs: { '*>messages': { refused: 'audio', because: 'the format has no audio' } },
    },
    {
      name: 'a provider’s own file id',
      asks: see(
        [{ type: 'file', file: { file_id: 'file-abc123' } }],
        [document({ type: 'file', file_id: 'file_011CNha8' })],
        [fileData('https://generativelanguage.googleapis.com/v1beta/files/abc', 'application/pdf')],
        [{ type: 'input_file', file_id: 'file-abc123' }],
      ),
      answer: TEXT,
      pairs: {
        '*>*': FILE_ID,
        'chat-completions>chat-completions': FILE_ID,
        'messages>messages': FILE_ID,
        'generate-content>generate-content': FILE_ID,
        'responses>responses': FILE_ID,
      },
    },
    imageResult,
  ],
}
