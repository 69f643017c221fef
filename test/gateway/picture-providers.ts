/** Providers of pictures for tests, in the words of either format, and the models that sell them. */
import type { CatalogFile } from '@test/support/gateway'
import { chatChunk, chatCompletion, eventStream, type UpstreamCall, usageChunk, usageOf } from '@test/support/upstream'

/** A PNG's first bytes, as base64: pictures are never looked into. */
export const PICTURE = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ'

/** What a provider like Gemini answers: a text and a picture, with 5 tokens in and 1,290 for the picture. */
function geminiAnswer(text: string) {
  const parts = [{ text }, { inlineData: { mimeType: 'image/png', data: PICTURE } }]
  return {
    candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP' }],
    usageMetadata: {
      promptTokenCount: 5,
      candidatesTokenCount: 1_290 + text.length,
      totalTokenCount: 1_295 + text.length,
      candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1_290 }],
    },
    modelVersion: 'gemini-image',
    responseId: 'gemini-answer',
  }
}

/** A text and a picture as a chat answer: 5 tokens in, 1,295 out, 1,290 of them a picture. */
function chatPicture(stream: boolean): Response {
  const images = [{ type: 'image_url', image_url: { url: `data:image/png;base64,${PICTURE}` } }]
  const usage = { ...usageOf(5, 1_295), completion_tokens_details: { image_tokens: 1_290 } }
  if (!stream) {
    const answer = chatCompletion('Here:', usage)
    const choices = answer.choices.map((choice) => ({ ...choice, message: { ...choice.message, images } }))
    return Response.json({ ...answer, choices })
  }
  const deltas = [{ role: 'assistant', content: 'Here:' }, { images }].map((delta) => chatChunk(delta))
  return eventStream(...deltas, chatChunk({}, 'stop'), usageChunk(usage), '[DONE]')
}

/** Answers in the words of whichever format was spoken. */
export function answerPictures(call: UpstreamCall): Response {
  if (call.path.includes(':generateContent')) return Response.json(geminiAnswer('Here:'))
  if (call.path.includes(':streamGenerateContent')) return eventStream(geminiAnswer('Here:'))
  return chatPicture(call.body.stream === true)
}

const IMAGE_TOKENS = [
  { billable: 'input_image', unit: 'token', usd: 8 },
  { billable: 'output_image', unit: 'token', usd: 30 },
]

/** Adds providers of two more formats, and models that put pictures into answers. */
export function sellPictures(file: CatalogFile): void {
  const own = file.providers.provider1 ?? {}
  const root = { ...own, baseUrl: String(own.baseUrl).replace(/\/v1$/, '') }
  file.providers.provider2 = { ...root, format: 'messages', keys: ['messages-secret-canary'] }
  file.providers.provider3 = { ...root, format: 'generate-content', keys: ['gemini-secret-canary'] }
  const pricing = { inputPer1mTokens: 1, outputPer1mTokens: 2, lines: IMAGE_TOKENS }
  const talks = { pricing, maxOutputTokens: 8_000, capabilities: ['images'] }
  file.models.push({ ...entry('svc/artist', [['provider1', 'artist']]), ...talks })
  file.models.push({ ...entry('svc/artist-messages', [['provider2', 'artist']]), ...talks })
  file.models.push({ ...entry('svc/artist-gemini', [['provider3', 'artist']]), ...talks })
}

function entry(id: string, targets: readonly (readonly string[])[]) {
  return {
    ...{ id, name: id, ownedBy: 'provider1', created: 1_760_000_000, contextLength: 32_000 },
    targets: targets.map(([provider, model]) => ({ provider, model })),
  }
}
