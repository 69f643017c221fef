/** Providers of pictures for tests, in the words of either format, and the models that sell them. */
import type { CatalogFile } from '@test/support/gateway'
import { chatChunk, chatCompletion, eventStream, type UpstreamCall, usageChunk, usageOf } from '@test/support/upstream'

/** A PNG's first bytes, as base64: pictures are never looked into. */
export const PICTURE = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ'

/** The usage that a provider like OpenAI states: 14 tokens of text in, 1,000 of pictures out. */
export const USAGE = {
  input_tokens: 14,
  input_tokens_details: { text_tokens: 14, image_tokens: 0 },
  output_tokens: 1_000,
  output_tokens_details: { text_tokens: 0, image_tokens: 1_000 },
  total_tokens: 1_014,
}
/** 14 × 5,000 + 1,000 × 30,000 nano-USD. */
export const USAGE_COST = 30_070_000
/** The same with 300 tokens of pictures among 314 tokens of input: 300 × 8,000 nano-USD more. */
const EDIT_USAGE = {
  ...USAGE,
  input_tokens: 314,
  input_tokens_details: { text_tokens: 14, image_tokens: 300 },
  total_tokens: 1_314,
}
export const EDIT_COST = USAGE_COST + 2_400_000

/** What a provider like OpenAI answers: `count` pictures, with a stated look and usage. */
export function picturesAnswer(count: number, stated: object = { usage: USAGE }): Response {
  const data = Array.from({ length: count }, () => ({ b64_json: PICTURE }))
  return Response.json({ created: 1_760_000_000, data, ...stated })
}

/** What a provider like Gemini answers: `count` pictures, with 5 tokens in and 1,290 for each picture. */
export function geminiPictures(count = 1, text = ''): Response {
  return Response.json(geminiAnswer(count, text))
}

function isTalk({ body }: UpstreamCall): boolean {
  return JSON.stringify(body.generationConfig ?? {}).includes('TEXT')
}

function geminiAnswer(count: number, text: string) {
  const picture = { inlineData: { mimeType: 'image/png', data: PICTURE } }
  const parts = [...(text === '' ? [] : [{ text }]), ...Array.from({ length: count }, () => picture)]
  return {
    candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: count > 0 ? 'STOP' : 'IMAGE_SAFETY' }],
    usageMetadata: geminiUsage(count, text),
    modelVersion: 'gemini-image',
    responseId: 'gemini-answer',
  }
}

function geminiUsage(count: number, text = '') {
  const written = count * 1_290
  return {
    promptTokenCount: 5,
    candidatesTokenCount: written + text.length,
    totalTokenCount: 5 + written + text.length,
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: 5 }],
    candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: written }],
  }
}

/** One event of a stream of pictures. */
export function pictureEvent(type: string, more: object = {}): string {
  const event = { type, b64_json: PICTURE, created_at: 1_760_000_000, size: '1024x1024', quality: 'low', ...more }
  return `event: ${type}\ndata: ${JSON.stringify(event)}\n\n`
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

/** Answers in the words of whichever format was spoken: as many pictures as were asked for. */
export function answerPictures(call: UpstreamCall): Response {
  if (call.path.includes(':generateContent')) return geminiPictures(1, isTalk(call) ? 'Here:' : '')
  if (call.path.includes(':streamGenerateContent')) return eventStream(geminiAnswer(1, 'Here:'))
  if (call.path.includes('/chat/completions')) return chatPicture(call.body.stream === true)
  if (call.path.includes('/images/edits')) return picturesAnswer(1, { usage: EDIT_USAGE })
  return picturesAnswer(Number(call.body.n ?? 1))
}

const IMAGE_TOKENS = [
  { billable: 'input_image', unit: 'token', usd: 8 },
  { billable: 'output_image', unit: 'token', usd: 30 },
]

/** Adds two providers, and models that make pictures: by tokens, by the picture, at Gemini, and in conversations. */
export function sellPictures(file: CatalogFile): void {
  const own = file.providers.provider1 ?? {}
  const gemini = { format: 'generate-content', baseUrl: String(own.baseUrl).replace(/\/v1$/, '') }
  file.providers.provider3 = { ...own, ...gemini, keys: ['gemini-secret-canary'] }
  file.providers.spare = { ...own, keys: ['spare-secret-canary'] }
  const byToken = { inputPer1mTokens: 5, lines: IMAGE_TOKENS }
  const byPicture = {
    lines: [
      { billable: 'output_image', unit: 'image', usd: 0.04 },
      { billable: 'output_image', unit: 'image', usd: 0.02, variant: 'low' },
      { billable: 'output_image', unit: 'image', usd: 0.08, variant: '1024x1536' },
      { billable: 'output_image', unit: 'image', usd: 0.12, variant: 'high:1024x1536' },
    ],
  }
  const models = [
    { id: 'svc/picture', targets: [['provider1', 'gpt-image-2']], pricing: byToken, maxOutputTokens: 7_000 },
    { id: 'svc/picture-each', targets: [['provider1', 'dall-e-3']], pricing: byPicture },
    { id: 'svc/picture-gemini', targets: [['provider3', 'gemini-image']], pricing: byToken, maxOutputTokens: 2_000 },
    {
      id: 'svc/picture-two',
      targets: [
        ['provider1', 'gpt-image-2'],
        ['spare', 'gpt-image-2'],
      ],
      pricing: byToken,
      maxOutputTokens: 7_000,
    },
  ]
  for (const { id, targets, ...rest } of models) file.models.push({ ...entry(id, targets), ...rest, kind: 'image' })
  const talks = { maxOutputTokens: 8_000, pricing: { inputPer1mTokens: 1, outputPer1mTokens: 2, lines: IMAGE_TOKENS } }
  file.models.push({ ...entry('svc/artist', [['provider1', 'artist']]), ...talks, capabilities: ['images'] })
  file.providers.provider2 = { ...own, format: 'messages', baseUrl: gemini.baseUrl, keys: ['messages-secret-canary'] }
  file.models.push({ ...entry('svc/artist-messages', [['provider2', 'artist']]), ...talks, capabilities: ['images'] })
  file.models.push({ ...entry('svc/artist-gemini', [['provider3', 'artist']]), ...talks, capabilities: ['images'] })
}

function entry(id: string, targets: readonly (readonly string[])[]) {
  return {
    ...{ id, name: id, ownedBy: 'provider1', created: 1_760_000_000, contextLength: 32_000 },
    targets: targets.map(([provider, model]) => ({ provider, model })),
  }
}
