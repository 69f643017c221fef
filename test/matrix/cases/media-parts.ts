/** Images, files and audio as parts of a user message in each format, for the cases about them. */
import type { JsonObject } from '@/lib/json'
import { ask } from './words'

export const PNG = 'iVBORw0KGgo='
export const PDF = 'JVBERi0xLjQK'
export const WAV = 'UklGRgAAAABXQVZF'
export const [CAT, CLIP] = ['https://example.com/cat.png', 'https://example.com/clip.mp4']

/** One user message in each format; a part that is undefined is one the format can't say. */
export function see(
  chat: JsonObject[] | undefined,
  messages: JsonObject[] | undefined,
  gemini: JsonObject[] | undefined,
  responses?: JsonObject[],
) {
  const all = ask({
    chat: { messages: [{ role: 'user', content: [...(chat ?? []), { type: 'text', text: 'Describe it' }] }] },
    messages: { messages: [{ role: 'user', content: [...(messages ?? []), { type: 'text', text: 'Describe it' }] }] },
    gemini: { contents: [{ role: 'user', parts: [...(gemini ?? []), { text: 'Describe it' }] }] },
    responses: { input: [withInputText(responses ?? [])] },
  })
  return {
    ...(chat && { 'chat-completions': all['chat-completions'] }),
    ...(messages && { messages: all.messages }),
    ...(gemini && { 'generate-content': all['generate-content'] }),
    ...(responses && { responses: all.responses }),
  }
}

export const imageUrl = (url: string, more: JsonObject = {}): JsonObject => ({
  type: 'image_url',
  image_url: { url, ...more },
})
export const image = (source: JsonObject): JsonObject => ({ type: 'image', source })
export const document = (source: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: 'document',
  source,
  ...more,
})
export const inline = (mimeType: string, data: string): JsonObject => ({ inlineData: { mimeType, data } })
export const fileData = (fileUri: string, mimeType: string): JsonObject => ({ fileData: { fileUri, mimeType } })
export const pdfFile = (filename: string): JsonObject => ({
  type: 'file',
  file: { filename, file_data: `data:application/pdf;base64,${PDF}` },
})
export const pdfBytes = { type: 'base64', media_type: 'application/pdf', data: PDF }

export const inputImage = (url: string, more: JsonObject = {}): JsonObject => ({
  type: 'input_image',
  image_url: url,
  ...more,
})
export const inputFile = (filename: string): JsonObject => ({
  type: 'input_file',
  filename,
  file_data: `data:application/pdf;base64,${PDF}`,
})

/** The parts in a message of chat-completions or messages. */
export function withText(parts: JsonObject[]): JsonObject {
  return { role: 'user', content: [...parts, { type: 'text', text: 'Describe it' }] }
}

/** The parts in a message of responses. */
export function withInputText(parts: JsonObject[]): JsonObject {
  return { role: 'user', content: [...parts, { type: 'input_text', text: 'Describe it' }] }
}
