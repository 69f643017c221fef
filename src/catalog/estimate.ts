/** The tokens of a request: upper bounds for the hold, an exact count if a bound is too coarse, and estimates for display. */
import { invalidRequest } from '@/chat/error'
import type { ChatRequest } from '@/chat/request'
import { type PromptParts, readPrompt } from './prompt-parts'
import { createTokenCounter } from './tokenizer'
import type { Model } from './types'

/** Tokens that a provider adds to every request: role marks, the start of the answer, dates, short instructions of its own. */
const REQUEST_OVERHEAD_TOKENS = 100
/** Tokens of the instructions that a provider adds for tools or a schema; the longest known have about 800. */
const TOOLS_OVERHEAD_TOKENS = 1_000
const TURN_OVERHEAD_TOKENS = 8
const TOOL_OVERHEAD_TOKENS = 32
/** Maximum answers per request. No format allows more, and a larger number could overflow the arithmetic. */
const MAX_CHOICES = 128

const ASCII_CHARS_PER_TOKEN = 4
/**
 * Tokens for each byte of a character after its first byte. A whole Chinese character has about 0.85 tokens, a Cyrillic letter 0.55, and an
 * emoji 1.1.
 */
const TOKENS_PER_EXTRA_BYTE = 0.3

/** A request's prompt, measured once for all bounds, counts and estimates of its input. */
export type Prompt = PromptParts & {
  /** Estimated input tokens, for display before the provider reports its count, and for billing if it never does. At least 1. */
  estimatedTokens: number
  /** Maximum tokens that providers may add to the prompt. */
  overheadTokens: number
}

/** Measures the prompt of `request`. Throws `invalid_request` for content of unknown size. */
export function measurePrompt(request: ChatRequest): Prompt {
  const parts = readPrompt(request)
  let tokens = usualTokens(request, parts)
  for (const text of parts.texts) tokens += rawEstimate(text)
  return Object.assign(parts, { estimatedTokens: Math.ceil(tokens), overheadTokens: overhead(request) })
}

/**
 * An upper bound of the input tokens of `prompt` at any provider with a context of `contextLength`. It is one token per byte of a body of
 * `bodyBytes`, except for media, which count by kind. A byte-level vocabulary never makes more than one token of a byte, and JSON escapes
 * only lengthen the text.
 */
export function inputBound(prompt: Prompt, bodyBytes: number, contextLength: number): number {
  let textBytes = Math.ceil(bodyBytes)
  for (const { bodyChars } of prompt.media) textBytes -= bodyChars
  return prompt.overheadTokens + mediaBound(prompt, contextLength) + Math.max(0, textBytes)
}

/** An upper bound of the tokens of all media together, limited by the context length. */
export function mediaBound({ mediaTokens }: Prompt, contextLength: number): number {
  return Math.min(mediaTokens, contextLength)
}

/**
 * Counts the prompt's text with a real tokenizer (o200k): exact for text in that vocabulary, and a bound for opaque data. Multiplied by the
 * model's `tokenizerSafetyFactor` it is an upper bound, without media. `accountId`: the account whose turn in the queue it takes. Text for
 * which the tokenizer's time budget is too short counts one token per byte, so the result stays an upper bound.
 */
export async function tokenizerCount({ texts, opaque, overheadTokens }: Prompt, accountId = ''): Promise<number> {
  let tokens = overheadTokens
  for (const data of opaque) tokens += Buffer.byteLength(data)
  return tokens + (await tokenizer.count(texts, (text) => Buffer.byteLength(text), { accountId, isPaid: true }))
}

/** A count for display: exact for text in one vocabulary, typical sizes for media. At least 1. */
export async function countInputTokens(request: ChatRequest, accountId = ''): Promise<number> {
  const parts = readPrompt(request)
  const asker = { accountId, isPaid: false }
  return Math.ceil(usualTokens(request, parts)) + (await tokenizer.count(parts.texts, estimateTextTokens, asker))
}

/** Maximum output tokens of `request`: the lower of its limit and the model's, times `choices`. Throws `invalid_request`. */
export function outputCap(request: ChatRequest, model: Model): number {
  const { choices, maxOutputTokens: limit } = request
  if (!Number.isSafeInteger(choices) || choices < 1 || choices > MAX_CHOICES) {
    throw invalidRequest(`The number of choices must be an integer from 1 to ${MAX_CHOICES}`, 'n')
  }
  if (limit !== undefined && (!Number.isSafeInteger(limit) || limit < 0)) {
    throw invalidRequest('The limit of output tokens must be a non-negative integer', 'max_tokens')
  }
  return Math.min(limit ?? model.maxOutputTokens, model.maxOutputTokens) * choices
}

/** Estimated tokens of a text, rounded up: 0 only for an empty text. */
export function estimateTextTokens(text: string): number {
  return Math.ceil(rawEstimate(text))
}

/** The tokens of all `texts`; undefined if they are too long, the queue is full or the thread has ended. */
export async function countTextTokens(texts: readonly string[]): Promise<number | undefined> {
  let isWhole = true
  const tokens = await tokenizer.count(texts, () => {
    isWhole = false
    return 0
  })
  return isWhole ? tokens : undefined
}

/** Starts the tokenizer's thread, which loads its vocabulary. */
export function startTokenizer(): Promise<void> {
  return tokenizer.start()
}

const tokenizer = createTokenCounter()

function rawEstimate(text: string): number {
  const extraBytes = Buffer.byteLength(text) - text.length
  return text.length / ASCII_CHARS_PER_TOKEN + extraBytes * TOKENS_PER_EXTRA_BYTE
}

/** Typical tokens of media and opaque data, of the role marks of each turn, and of the start of the answer. */
function usualTokens({ turns }: ChatRequest, { opaque, media }: PromptParts): number {
  let tokens = turns.length * 4 + 3
  for (const data of opaque) tokens += data.length / ASCII_CHARS_PER_TOKEN
  for (const medium of media) tokens += medium.usualTokens
  return tokens
}

function overhead(request: ChatRequest): number {
  const { tools, turns, output } = request
  const hasInstructions = tools.length > 0 || output.type !== 'text'
  return (
    REQUEST_OVERHEAD_TOKENS +
    (hasInstructions ? TOOLS_OVERHEAD_TOKENS : 0) +
    turns.length * TURN_OVERHEAD_TOKENS +
    tools.length * TOOL_OVERHEAD_TOKENS
  )
}
