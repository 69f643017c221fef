/**
 * How good a model a request deserves, as a number: a weighted sum of its features through a logistic curve. The weights were
 * fitted to one half of the evaluation's prompts (docs/ROUTING.md) and rounded; they are data, not theory.
 */
import type { RequestFeatures } from './read-request'

/** From this difficulty on a request counts as hard. */
export const HARD_FROM = 0.5

/** Of a longer text only the ends are read, and its length says nothing about the instruction. */
const LONG_TEXT_CHARS = 1_200

type Signal = { weight: number; read(features: RequestFeatures): number }

const BIAS = -2.3

/** Every signal goes from 0 to 1. The prompts hold too little of the last four: those weights are set by hand. */
const SIGNALS: Readonly<Record<string, Signal>> = {
  hardCues: { weight: 5.8, read: ({ hardCues }) => Math.min(1, hardCues / 4) },
  easyCues: { weight: -0.7, read: ({ easyCues }) => Math.min(1, easyCues / 3) },
  constraints: { weight: 0.2, read: ({ constraints }) => Math.min(1, constraints / 4) },
  length: {
    weight: 3.6,
    read: ({ promptChars }) => (promptChars > LONG_TEXT_CHARS ? 0.6 : logarithm(promptChars / 40, 6)),
  },
  code: { weight: 0.8, read: ({ code }) => code },
  mathematics: { weight: 1.3, read: ({ mathematics }) => mathematics },
  tools: { weight: 1.3, read: ({ tools }) => logarithm(tools, 5) },
  schema: { weight: -0.3, read: ({ hasSchema }) => Number(hasSchema) },
  turns: { weight: 0.5, read: ({ turns }) => logarithm(turns - 1, 6) },
  images: { weight: 0.2, read: ({ hasImages }) => Number(hasImages) },
  askedToThink: { weight: 2, read: ({ effort }) => Math.max(0, effort) },
  askedNotToThink: { weight: -1, read: ({ effort }) => Math.max(0, -effort) },
}

/** The difficulty of a request, 0 to 1. */
export function difficultyOf(features: RequestFeatures): number {
  let sum = BIAS
  for (const signal of Object.values(SIGNALS)) sum += signal.weight * signal.read(features)
  return 1 / (1 + Math.exp(-sum))
}

/** 0 at 0, 1 at 2^`doublings` - 1 and above. */
function logarithm(value: number, doublings: number): number {
  return Math.min(1, Math.log2(1 + Math.max(0, value)) / doublings)
}
