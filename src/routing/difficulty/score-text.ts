/** Scores a prompt's text with the trained weights, and finds the words and traits with the largest effect. */
import { encodePrompt, MAX_PAYLOAD_CHARS } from './encode'
import { fingerprint } from './fingerprint'
import { splitPrompt } from './instruction'
import { STRUCTURE } from './structure'
import { loadWeights, type Weights } from './weights'

type TextScore = {
  /** Before the logistic curve: at 0, easy and hard are equally likely. */
  sum: number
  code: number
  mathematics: number
  materialChars: number
}

/** One reason of a score, and its effect: positive for hard, negative for easy. */
export type Contribution = { because: string; effect: number }

const weights = loadWeights()
const CODE = STRUCTURE.indexOf('program code')
const FENCED = STRUCTURE.indexOf('material is code')
const FORMULAS = STRUCTURE.indexOf('formulas')
const TEX = STRUCTURE.indexOf('TeX')

/** Scores `text`, a sample of a prompt with `chars` characters. */
export function scoreText(text: string, chars: number): TextScore {
  const { structure, buckets, instructionBuckets, allBuckets, payloadChars } = encodePrompt(text, chars)
  let sum = weights.bias
  for (let index = 0; index < structure.length; index++) {
    sum += (weights.structure[index] ?? 0) * (structure[index] ?? 0)
  }
  sum += sumOfBuckets(buckets, 0, instructionBuckets) + sumOfBuckets(buckets, instructionBuckets, allBuckets)
  return {
    sum: sum * weights.slope,
    code: Math.max(structure[CODE] ?? 0, structure[FENCED] ?? 0),
    mathematics: Math.max(structure[FORMULAS] ?? 0, structure[TEX] ?? 0),
    materialChars: payloadChars,
  }
}

function sumOfBuckets(buckets: Uint32Array, from: number, to: number): number {
  if (to === from) return 0
  let sum = 0
  for (let index = from; index < to; index++) sum += weights.buckets[buckets[index] ?? 0] ?? 0
  return (sum * weights.step) / Math.sqrt(to - from)
}

/** The `most` reasons with the largest effect on the score. Slower than {@link scoreText}: for explanations. */
export function explainText(text: string, chars: number, most: number): Contribution[] {
  const { structure, instructionBuckets, allBuckets } = encodePrompt(text, chars)
  const effects = new Map<string, number>()
  const add = (because: string, effect: number) => effects.set(because, (effects.get(because) ?? 0) + effect)
  for (const [index, name] of STRUCTURE.entries()) {
    const effect = (weights.structure[index] ?? 0) * (structure[index] ?? 0)
    if (effect !== 0) add(name.replace(/ \d+$/, ''), effect * weights.slope)
  }
  const { instruction, payload } = splitPrompt(text)
  addWords(weights, instruction, false, instructionBuckets, add)
  addWords(weights, payload.slice(0, MAX_PAYLOAD_CHARS), true, allBuckets - instructionBuckets, add)
  return [...effects]
    .map(([because, effect]) => ({ because, effect }))
    .sort((left, right) => Math.abs(right.effect) - Math.abs(left.effect))
    .slice(0, most)
}

/** Adds each word's effect, including its parts, its position and the pair that it ends. A repeated word counts once, as in the score. */
function addWords(
  { buckets, step, slope }: Weights,
  text: string,
  isPayload: boolean,
  count: number,
  add: (because: string, effect: number) => void,
): void {
  const seen = new Set<number>()
  fingerprint(text, isPayload, (bucket, start, end) => {
    if (seen.has(bucket)) return
    seen.add(bucket)
    const effect = ((buckets[bucket] ?? 0) * step * slope) / Math.sqrt(Math.max(1, count))
    if (effect !== 0) add(`${isPayload ? 'in the material: ' : ''}“${text.slice(start, end)}”`, effect)
  })
}
