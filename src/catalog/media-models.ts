/** Checks that a model has a price for its kind of answer. Converts entries of other kinds to the shape of chat models. */
import type { AnyModelFile } from './any-model-file'
import type { FaultList } from './check'
import { unitName } from './price-line-file'
import type { MediaModelFile } from './schema'
import type { MediaKind, ModelKind } from './types'

/** The entry in the shape of a chat model's entry. */
export function asModelFile({ maxOutputTokens = 0, ...file }: MediaModelFile): AnyModelFile {
  return { ...file, maxOutputTokens }
}

/** The reason why models of this kind can't answer a conversation. */
export function cannotConverse(kind: Exclude<ModelKind, 'chat'>): string {
  return kind === 'embedding'
    ? 'embeds, and answers no conversation'
    : `is of kind ${kind}, and answers no conversation`
}

/** The possible prices by kind of model. A model needs at least one of its kind's. */
const SOLD_BY: Readonly<Record<MediaKind, readonly string[]>> = {
  image: ['output_image per image', 'output_image per token'],
  speech: ['input_text per character', 'input_text per token', 'output_audio per token'],
  transcription: ['input_audio per second', 'input_audio per token'],
  rerank: ['request per search_unit', 'input_text per token'],
}

/** Reports a fault if the model lacks a price for its answers, or has a price that its kind never charges. */
export function checkSold({ kind = 'chat', pricing }: AnyModelFile, place: string, faults: FaultList): void {
  const { lines = [], inputPer1mTokens, outputPer1mTokens } = pricing
  const names = new Set(lines.map(({ billable, unit }) => unitName({ billable, unit })))
  if (inputPer1mTokens !== undefined) names.add('input_text per token')
  if (outputPer1mTokens !== undefined) names.add('output_text per token')
  if (kind === 'embedding') return
  if (kind !== 'chat') {
    const needed = SOLD_BY[kind]
    if (needed.some((name) => names.has(name))) return
    faults.add(`${place}.pricing`, `a model of kind ${kind} needs a price of ${needed.join(', or of ')}`)
    return
  }
  for (const [field, name] of TOKEN_PRICES) {
    if (!names.has(name))
      faults.add(`${place}.pricing.${field}`, 'is missing; expected a price in USD per 1,000,000 tokens')
  }
  for (const [index, line] of lines.entries()) {
    if (line.unit === 'token' || unitName(line) === FEE) continue
    faults.add(`${place}.pricing.lines[${index}].unit`, 'a model of kind chat is sold by token, and by request')
  }
}

const FEE = 'request per request'
const TOKEN_PRICES = [
  ['inputPer1mTokens', 'input_text per token'],
  ['outputPer1mTokens', 'output_text per token'],
] as const
