/** Token bounds: what counts as text, what as media, and that no real tokenizer exceeds them. */
import { describe, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import { encode } from 'gpt-tokenizer/encoding/o200k_base'
import { countInputTokens, inputBound, measurePrompt, outputCap, tokenizerCount } from '@/catalog/estimate'
import { IMAGE_TOKENS_MAX } from '@/catalog/media/media-size'
import { GatewayError } from '@/chat/error'
import type { ChatRequest, ContentBlock, FileBlock } from '@/chat/request'
import { PAGE_TOKENS, pages, repeatedPages } from './media/sample-pdfs'
import { modelOf, prices, requestOf } from './sample-requests'

const MODEL = modelOf({ base: prices(1, 1), steps: [] }, 1000)
/** What a text adds to a prompt. */
const guessOf = (text: string) =>
  measurePrompt(requestOf(text)).estimatedTokens - measurePrompt(requestOf('')).estimatedTokens
const AS_PLAIN_TEXT = { disallowedSpecial: new Set<string>() }

const CONTEXT = 1_000_000

/** The bytes a body with this request would have, at the least. */
function bytesOf(request: ChatRequest): number {
  return Buffer.byteLength(JSON.stringify(request))
}

function boundOf(content: ContentBlock[], more: Partial<ChatRequest> = {}): number {
  const request = requestOf(content, more)
  return inputBound(measurePrompt(request), bytesOf(request), CONTEXT)
}

const base64 = (bytes: number) => Buffer.alloc(bytes, 7).toString('base64')
const image = (data: string): ContentBlock => ({
  type: 'image',
  source: { type: 'base64', mediaType: 'image/png', data },
})
const file = (source: FileBlock['source']): ContentBlock => ({ type: 'file', source })

const texts = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.string({ unit: 'grapheme', maxLength: 200 }),
  fc.constantFrom('<|endoftext|>', 'hello world '.repeat(20), '汉字'.repeat(50), 'a'.repeat(300), '👩‍👩‍👧‍👦', '\ud800'),
)

describe('the upper bound of input tokens', () => {
  test('the input bound is never below the count of a real tokenizer', () => {
    fc.assert(
      fc.property(fc.array(texts, { minLength: 1, maxLength: 5 }), (parts) => {
        const request = requestOf(parts.map((text) => ({ type: 'text', text })))
        const counted = parts.reduce((sum, text) => sum + encode(text, AS_PLAIN_TEXT).length, 0)
        expect(inputBound(measurePrompt(request), bytesOf(request), CONTEXT)).toBeGreaterThanOrEqual(counted)
      }),
      { numRuns: 500 },
    )
  })

  test('the input bound counts a byte of text as a token', () => {
    const [short, long] = ['x', 'x'.repeat(10_001)].map((text) => boundOf([{ type: 'text', text }])) as [number, number]
    expect(long - short).toBe(10_000)
  })

  test('the input bound counts an image as a constant, whatever its bytes', () => {
    const bound = boundOf([image(base64(3_000_000))])
    expect(bound).toBeGreaterThan(IMAGE_TOKENS_MAX)
    expect(bound).toBeLessThan(IMAGE_TOKENS_MAX + 2000)
    expect(boundOf([image(''), image(''), image('')])).toBeGreaterThan(3 * IMAGE_TOKENS_MAX)
  })

  test('the input bound counts images inside tool results, and images named by address', () => {
    const byAddress: ContentBlock = { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }
    const result = {
      type: 'tool-result',
      callId: '1',
      isError: false,
      content: [image(base64(90_000)), byAddress],
    } as const
    const bound = boundOf([result as unknown as ContentBlock])
    expect(bound).toBeGreaterThan(2 * IMAGE_TOKENS_MAX)
    expect(bound).toBeLessThan(2 * IMAGE_TOKENS_MAX + 3000)
  })

  const inline = (mediaType: string, bytes: Buffer | string) =>
    file({ type: 'base64', mediaType, data: Buffer.from(bytes as string, 'latin1').toString('base64') })

  test('the input bound counts a PDF by its pages, or as a whole context if pages may be hidden', () => {
    const bound = boundOf([inline('application/pdf', pages(10))])
    expect(bound).toBeGreaterThan(10 * PAGE_TOKENS)
    expect(bound).toBeLessThan(11 * PAGE_TOKENS)
    const hidden = boundOf([inline('application/pdf', repeatedPages(600))])
    expect(hidden).toBeGreaterThanOrEqual(CONTEXT)
    expect(hidden).toBeLessThan(CONTEXT + 1_000)
  })

  test('the input bound counts a text file by its bytes, but a document declared as text as a whole context', () => {
    for (const mediaType of ['text/plain', 'application/json', 'Text/CSV']) {
      const text = boundOf([inline(mediaType, 'x'.repeat(300_000))])
      expect(text).toBeGreaterThanOrEqual(300_000)
      expect(text).toBeLessThan(302_000)
    }
    expect(boundOf([inline('text/plain', repeatedPages(600))])).toBeGreaterThanOrEqual(CONTEXT)
    expect(boundOf([inline('text/plain', 'PK\x03\x04 sheets')])).toBeGreaterThanOrEqual(CONTEXT)
  })

  test('the input bound counts an unreadable file as a whole context, and several together as one context', () => {
    const unseen: ContentBlock[] = [
      file({ type: 'url', url: 'https://example.com/a.pdf' }),
      inline('video/mp4', 'ftyp'),
      inline('application/zip', 'PK\x03\x04'),
      { type: 'image', source: { type: 'base64', mediaType: 'video/mp4', data: base64(10) } },
      { type: 'audio', mediaType: 'audio/ogg', data: base64(10) },
      file({ type: 'base64', mediaType: 'audio/opus', data: base64(10) }),
    ]
    for (const content of [...unseen.map((block) => [block]), unseen]) {
      expect(boundOf(content)).toBeGreaterThanOrEqual(CONTEXT)
      expect(boundOf(content)).toBeLessThan(CONTEXT + 2_000)
    }
  })

  test('the input bound stops reading files once they exceed any context', () => {
    const many = Array.from({ length: 400 }, () => inline('application/pdf', pages(1)))
    expect(measurePrompt(requestOf(many)).mediaTokens).toBe(Number.POSITIVE_INFINITY)
    expect(boundOf(many)).toBeLessThan(CONTEXT + 50_000)
  })

  test('the input bound counts audio by its length, at 32 tokens a second', () => {
    const frame = Buffer.concat([Buffer.from([0xff, 0xfb, 0x90, 0xc4]), Buffer.alloc(413)])
    const data = Buffer.concat(Array.from({ length: 384 }, () => frame)).toString('base64')
    // Ten seconds at 128 kbit/s, which could be 160 at the lowest rate there is.
    const bound = boundOf([{ type: 'audio', mediaType: 'audio/mp3', data }])
    expect(bound).toBeGreaterThan(160 * 32)
    expect(bound).toBeLessThan(170 * 32 + 2_000)
  })

  test('the input bound includes tokens that providers add for turns, tools and schemas', () => {
    const tools = Array.from({ length: 10 }, (_, index) => ({ name: `tool${index}` }))
    const request = requestOf('', { tools })
    expect(inputBound(measurePrompt(request), 0, CONTEXT)).toBeGreaterThan(1000)
    expect(inputBound(measurePrompt(requestOf('')), 0, CONTEXT)).toBeGreaterThan(50)
    const schema = requestOf('', { output: { type: 'json-schema', schema: { type: 'object' } } })
    expect(inputBound(measurePrompt(schema), 0, CONTEXT)).toBeGreaterThan(1000)
  })

  test('files given by id are refused, because their size is unknown', () => {
    const source = { type: 'file-id', id: 'file-1', format: 'messages' } as const
    for (const block of [file(source), { type: 'image', source } as const]) {
      expect(() => measurePrompt(requestOf([block]))).toThrow(GatewayError)
    }
  })

  test('the input bound is never negative, even if media are counted twice', () => {
    const prompt = measurePrompt(requestOf([image(base64(100)), image(base64(100))]))
    expect(inputBound(prompt, 10, CONTEXT)).toBeGreaterThan(2 * IMAGE_TOKENS_MAX)
  })
})

describe('the tokenizer count', () => {
  test('the tokenizer count equals the real tokenizer’s count plus a small margin', async () => {
    const text = 'The quick brown fox jumps over the lazy dog; 1,234 times.\n'.repeat(200)
    const exact = encode(text).length
    const counted = await tokenizerCount(measurePrompt(requestOf(text)))
    expect(counted).toBeGreaterThanOrEqual(exact)
    expect(counted).toBeLessThan(exact * 1.03 + 200)
  })

  test('the tokenizer count covers every part of the request that the model reads', async () => {
    const word = ' elephant'.repeat(100)
    const count = async (request: ChatRequest) =>
      (await tokenizerCount(measurePrompt(request))) - (await tokenizerCount(measurePrompt(requestOf(''))))
    const blocks: ContentBlock[] = [
      { type: 'text', text: word },
      { type: 'refusal', text: word },
      { type: 'reasoning', text: word },
      { type: 'tool-call', id: '1', name: 'a', argumentsText: word },
      { type: 'tool-result', callId: '1', isError: false, content: [{ type: 'text', text: word }] },
      file({ type: 'text', text: word, mediaType: 'text/plain' }),
      { type: 'reasoning', text: '', redacted: { format: 'messages', value: word } },
      { type: 'text', text: '', signature: { format: 'messages', value: word } },
    ]
    for (const block of blocks) expect(await count(requestOf([block]))).toBeGreaterThanOrEqual(100)
    const wholes: Partial<ChatRequest>[] = [
      { system: [{ type: 'text', text: word }] },
      { tools: [{ name: 'a', description: word }] },
      { tools: [{ name: 'a', parameters: { description: word } }] },
      { output: { type: 'json-schema', schema: { description: word } } },
      { extensions: { messages: { novelty: { deep: word } } } },
    ]
    for (const whole of wholes) expect(await count(requestOf('', whole))).toBeGreaterThanOrEqual(100)
  })

  test('the token count for callers uses usual sizes for media, and no safety margin', async () => {
    const exact = encode('hello world').length
    expect(await countInputTokens(requestOf('hello world'))).toBeLessThan(exact + 10)
    expect(await countInputTokens(requestOf([image(base64(900_000))]))).toBeLessThan(2000)
  })
})

describe('the cap of the output limit', () => {
  const cap = (more: Partial<ChatRequest>) => outputCap(requestOf('', more), MODEL)

  test('the output cap is the caller’s or the model’s limit, times the choices, and at most the model’s maximum', () => {
    expect(cap({})).toBe(1000)
    expect(cap({ maxOutputTokens: 300 })).toBe(300)
    expect(cap({ maxOutputTokens: 300, choices: 4 })).toBe(1200)
    expect(cap({ maxOutputTokens: 128_000 })).toBe(1000)
    expect(cap({ maxOutputTokens: 0 })).toBe(0)
    expect(cap({ choices: 128 })).toBe(128_000)
  })

  test.each([0, -1, 1.5, 129, 1.8e19, Number.NaN, Number.POSITIVE_INFINITY, '2' as unknown as number])(
    'the output cap refuses %p choices',
    (choices) => {
      expect(() => cap({ choices })).toThrow(GatewayError)
    },
  )

  test.each([-1, 1.5, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY, '5' as unknown as number])(
    'the output cap refuses a limit of %p',
    (maxOutputTokens) => {
      expect(() => cap({ maxOutputTokens })).toThrow(GatewayError)
    },
  )
})

describe('the quick guess of token counts', () => {
  test('the guessed token count is close for prose in several scripts', () => {
    const samples = [
      'It was the best of times, it was the worst of times, it was the age of wisdom. '.repeat(20),
      'Это было лучшее изо всех времён, это было худшее изо всех времён. '.repeat(20),
      '那是最美好的时代，那是最糟糕的时代；那是智慧的年头，那是愚昧的年头。'.repeat(20),
      'export function add(left: number, right: number): number {\n  return left + right\n}\n'.repeat(20),
    ]
    for (const text of samples) {
      const exact = encode(text).length
      expect(guessOf(text)).toBeGreaterThan(exact * 0.6)
      expect(guessOf(text)).toBeLessThan(exact * 2.2)
    }
  })

  test('the guessed token count is 0 for an empty text, and at least 1 otherwise', () => {
    expect(guessOf('')).toBe(0)
    expect(guessOf('a')).toBe(1)
    expect(measurePrompt(requestOf('')).estimatedTokens).toBeGreaterThan(0)
  })

  test('the guessed token count never exceeds the input bound', () => {
    fc.assert(
      fc.property(fc.array(texts, { maxLength: 4 }), (parts) => {
        const request = requestOf(parts.map((text) => ({ type: 'text', text })))
        const prompt = measurePrompt(request)
        expect(prompt.estimatedTokens).toBeLessThanOrEqual(inputBound(prompt, bytesOf(request), CONTEXT))
      }),
    )
  })
})
