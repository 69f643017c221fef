/** Measures inputs of embeddings in tokens. Inputs sent as tokens are exact; texts are estimated, bounded or counted. */
import type { EmbeddingInput } from '@/chat/embedding'
import { countTextTokens, estimateTextTokens, inputBound, type Prompt, tokenizerCount } from './estimate'
import type { Model } from './types'

/** The size of all inputs together; `knownTokens` is the number of tokens in inputs that were sent as tokens. */
export type InputSizes = Prompt & { knownTokens: number }

/** Tokens that providers may add to each text. */
const TEXT_OVERHEAD_TOKENS = 4

/** Measures all inputs. */
export function measureInputs(inputs: readonly EmbeddingInput[]): InputSizes {
  const texts: string[] = []
  let knownTokens = 0
  for (const input of inputs) {
    if (input.type === 'tokens') knownTokens += input.tokens.length
    else texts.push(...textsOf(input))
  }
  const estimated = texts.reduce((sum, text) => sum + estimateTextTokens(text), knownTokens)
  const overheadTokens = knownTokens + texts.length * TEXT_OVERHEAD_TOKENS
  const nothingElse = { opaque: [], media: [], mediaTokens: 0, hasFiles: false, schemaBytes: 0 }
  return { texts, ...nothingElse, estimatedTokens: Math.max(1, estimated), overheadTokens, knownTokens }
}

/** An estimate of the tokens of one input; exact if it is given as tokens. */
export function estimateInput(input: EmbeddingInput): number {
  if (input.type === 'tokens') return input.tokens.length
  return textsOf(input).reduce((sum, text) => sum + estimateTextTokens(text), 0)
}

/** An upper bound for any provider: one token per byte of text, plus the given tokens. */
export function boundOfInputs(sizes: InputSizes): number {
  const bytes = sizes.texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  return inputBound(sizes, bytes, 0)
}

/** A closer bound than {@link boundOfInputs}: counts the texts' tokens, which takes milliseconds. */
export async function countedBoundOfInputs(
  sizes: InputSizes,
  { tokenizerSafetyFactor }: Model,
  accountId: string,
): Promise<number> {
  if (sizes.texts.length === 0) return boundOfInputs(sizes)
  return Math.min(Math.ceil((await tokenizerCount(sizes, accountId)) * tokenizerSafetyFactor), boundOfInputs(sizes))
}

/** Our own count of the inputs, for providers that report none; undefined if they could not be counted. */
export async function countInputs({ texts, knownTokens }: InputSizes): Promise<number | undefined> {
  if (texts.length === 0) return knownTokens
  const counted = await countTextTokens(texts)
  return counted === undefined ? undefined : counted + knownTokens
}

function textsOf({ text, title }: Extract<EmbeddingInput, { type: 'text' }>): string[] {
  return title === undefined ? [text] : [text, title]
}
