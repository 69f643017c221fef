/** How many tokens a request may take: bounds for the hold, an exact count where the bound is too coarse, and guesses to show. */
import { invalidRequest } from '@/chat/error'
import type { ChatRequest } from '@/chat/request'
import { type PromptParts, readPrompt } from './prompt-parts'
import { createTokenCounter } from './tokenizer'
import type { Model } from './types'

/** What a provider adds to every request: role marks, the begin of the answer, dates, its own short instructions. */
const REQUEST_OVERHEAD_TOKENS = 100
/** The instructions that a provider adds as soon as there is a tool or a schema; the longest known takes about 800 tokens. */
const TOOLS_OVERHEAD_TOKENS = 1_000
const TURN_OVERHEAD_TOKENS = 8
const TOOL_OVERHEAD_TOKENS = 32
/** More answers at once than any format allows are a mistake or an attack on the arithmetic. */
const MAX_CHOICES = 128

const ASCII_CHARS_PER_TOKEN = 4
/** Each byte beyond one per character: makes a Chinese character 0.85 tokens, a Cyrillic letter 0.55, an emoji 1.1. */
const TOKENS_PER_EXTRA_BYTE = 0.3

/** A request's prompt, read once: all that bounds, counts and guesses of its input need. */
export type Prompt = PromptParts & {
  /** A guess of the input tokens, to show before the provider counts and to bill by where it never does. At least 1. */
  estimatedTokens: number
  /** What providers may add to it at most. */
  overheadTokens: number
}

/** Reads the prompt of `request`. Throws `invalid_request` for what has no known size. */
export function measurePrompt(request: ChatRequest): Prompt {
  const parts = readPrompt(request)
  let tokens = usualTokens(request, parts)
  for (const text of parts.texts) tokens += rawEstimate(text)
  return Object.assign(parts, { estimatedTokens: Math.ceil(tokens), overheadTokens: overhead(request) })
}

/**
 * The most input tokens that `prompt` can be counted as by any provider with a context of `contextLength`: one per byte of a body
 * of `bodyBytes`, except that media count by their kind and not by their bytes. No byte-level vocabulary makes more than one token
 * of a byte, and escapes only make JSON longer than its text.
 */
export function inputBound(prompt: Prompt, bodyBytes: number, contextLength: number): number {
  let textBytes = Math.ceil(bodyBytes)
  for (const { bodyChars } of prompt.media) textBytes -= bodyChars
  return prompt.overheadTokens + mediaBound(prompt, contextLength) + Math.max(0, textBytes)
}

/** The most tokens of all media together: no more than the context, whatever they hold. */
export function mediaBound({ mediaTokens }: Prompt, contextLength: number): number {
  return Math.min(mediaTokens, contextLength)
}

/**
 * Counts the text of the prompt with a real tokenizer (o200k): exact for that vocabulary, a bound for opaque data. Times the model's
 * `tokenizerSafetyFactor` it is an upper bound; media come on top. `accountId` is whose turn it takes. Works in slices of a few
 * milliseconds; text beyond its budget counts one token per byte, so that the result stays an upper bound and the work stays bounded.
 */
export async function tokenizerCount({ texts, opaque, overheadTokens }: Prompt, accountId = ''): Promise<number> {
  let tokens = overheadTokens
  for (const data of opaque) tokens += Buffer.byteLength(data)
  return tokens + (await tokenizer.count(texts, (text) => Buffer.byteLength(text), { accountId, isPaid: true }))
}

/** A count to show to an account that asks: exact for text in one vocabulary, usual sizes for media. At least 1. */
export async function countInputTokens(request: ChatRequest, accountId = ''): Promise<number> {
  const parts = readPrompt(request)
  const asker = { accountId, isPaid: false }
  return Math.ceil(usualTokens(request, parts)) + (await tokenizer.count(parts.texts, estimateTextTokens, asker))
}

/**
 * The most output tokens of `request` at `model`, over all choices: the caller's limit or else the model's, times the
 * choices. A limit above the model's own is lowered to it, since no model writes more than it can.
 * Throws `invalid_request` for a limit or a number of choices that is no sensible integer.
 */
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

/** A guess of the tokens of one text, rounded up: 0 only for an empty text. */
export function estimateTextTokens(text: string): number {
  return Math.ceil(rawEstimate(text))
}

/** The tokens of all `texts`; undefined if they are too long, too many wait, or the thread is gone. */
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

/** What is no text, at its usual size, and the role marks around each turn and the begin of the answer. */
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
