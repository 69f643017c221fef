/**
 * Computes the difficulty of a request: the score of its text and its other traits, through a logistic curve. Weights of texts are learned
 * from public prompts. These prompts have no tools, schemas or effort, so the weights of such traits are set by hand.
 */
import type { RequestFeatures } from './read-request'

/** From this difficulty on a request counts as hard. */
export const HARD_FROM = 0.5

type Signal = { because: string; weight: number; read(features: RequestFeatures): number }

const SIGNALS: readonly Signal[] = [
  { because: 'many tools to choose from', weight: 1.3, read: ({ tools }) => logarithm(tools, 5) },
  { because: 'an answer that follows a schema', weight: -0.3, read: ({ hasSchema }) => Number(hasSchema) },
  { because: 'a long conversation', weight: 0.5, read: ({ turns }) => logarithm(turns - 1, 6) },
  { because: 'images', weight: 0.2, read: ({ hasImages }) => Number(hasImages) },
  { because: 'thinking was asked for', weight: 2, read: ({ effort }) => Math.max(0, effort) },
  { because: 'thinking was switched off', weight: -1, read: ({ effort }) => Math.max(0, -effort) },
]

/** The difficulty of a request, 0 to 1. */
export function difficultyOf(features: RequestFeatures): number {
  let sum = features.text
  for (const { weight, read } of SIGNALS) sum += weight * read(features)
  return 1 / (1 + Math.exp(-sum))
}

/** The features, other than the text, that changed a request's difficulty, with their effects. */
export function explainSignals(features: RequestFeatures): { because: string; effect: number }[] {
  return SIGNALS.map(({ because, weight, read }) => ({ because, effect: weight * read(features) })).filter(
    ({ effect }) => effect !== 0,
  )
}

/** Scales `value` by its logarithm: 0 stays 0, and 2^`doublings` - 1 or more becomes 1. */
function logarithm(value: number, doublings: number): number {
  return Math.min(1, Math.log2(1 + Math.max(0, value)) / doublings)
}
