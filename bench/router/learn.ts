/**
 * Fits a logistic model to encoded prompts, by stochastic gradient descent with a step of its own for every weight. Draws
 * nothing at random but from a seed, and adds in one order, so that the same prompts give the same weights bit by bit.
 */
import { encodePrompt } from '@/routing/difficulty/encode'
import { BUCKETS } from '@/routing/difficulty/fingerprint'
import { STRUCTURE } from '@/routing/difficulty/structure'

export type TrainingPrompt = {
  structure: Float32Array
  /** Those of the instruction first. */
  buckets: Uint32Array
  instruction: number
  label: number
  weight: number
  /** By number; 0 is what people write to an assistant, in English. */
  family: number
  language: number
  source: number
}

/**
 * What was learned. Form means something else in an exam, and a collection of one language may be hard or easy as a whole: that
 * goes into weights of the family and of the language, which are left out of the result.
 */
export type Fitted = {
  bias: Float64Array
  structure: Float64Array
  buckets: Float64Array
  families: Float64Array
  languages: Float64Array
}

const MAX_FAMILIES = 3
const MAX_LANGUAGES = 64
const FAMILY_SIGNALS = STRUCTURE.length + 1
const SEED = 20_261_122
const EPOCHS = 8
const RATE = 0.1
/** How fast a weight that nothing speaks for goes back to nothing. */
const DECAY = { structure: 1e-5, buckets: 1e-2, families: 1e-5, languages: 1e-4, bias: 0 }
const FIRST_SQUARE = 1e-6

/** Encodes one prompt; its place in the training set is added by the caller. */
export function encodeText(
  text: string,
  chars = text.length,
): Pick<TrainingPrompt, 'structure' | 'buckets' | 'instruction'> {
  const encoded = encodePrompt(text, chars)
  return {
    structure: encoded.structure.slice(),
    buckets: encoded.buckets.slice(0, encoded.allBuckets),
    instruction: encoded.instructionBuckets,
  }
}

/** Leaves out of every prompt the buckets that fewer than `least` collections hold: what few hold tells the collection. */
export function withoutRare(prompts: readonly TrainingPrompt[], least: number): TrainingPrompt[] {
  const holders = new Uint8Array(BUCKETS)
  const bySource = Map.groupBy(prompts, ({ source }) => source)
  for (const those of bySource.values()) {
    const met = new Uint8Array(BUCKETS)
    for (const { buckets } of those) for (const bucket of buckets) met[bucket] = 1
    for (let bucket = 0; bucket < BUCKETS; bucket++) holders[bucket] = (holders[bucket] ?? 0) + (met[bucket] ?? 0)
  }
  const isKept = (bucket: number) => (holders[bucket] ?? 0) >= least
  return prompts.map((prompt) => ({
    ...prompt,
    buckets: prompt.buckets.filter(isKept),
    instruction: prompt.buckets.subarray(0, prompt.instruction).filter(isKept).length,
  }))
}

/** Fits the weights to `prompts`, several times over in an order drawn from the seed. */
export function fit(prompts: readonly TrainingPrompt[]): Fitted {
  const fitted = everywhere(0)
  const squares = everywhere(FIRST_SQUARE)
  const order = Uint32Array.from(prompts.keys())
  const random = createRandom(SEED)
  for (let epoch = 0; epoch < EPOCHS; epoch++) {
    shuffle(order, random)
    for (const index of order) learnFrom(prompts[index] as TrainingPrompt, fitted, squares)
  }
  return fitted
}

function everywhere(value: number): Fitted {
  return {
    bias: new Float64Array(1).fill(value),
    structure: new Float64Array(STRUCTURE.length).fill(value),
    buckets: new Float64Array(BUCKETS).fill(value),
    families: new Float64Array(MAX_FAMILIES * FAMILY_SIGNALS).fill(value),
    languages: new Float64Array(MAX_LANGUAGES).fill(value),
  }
}

/** The sum before the logistic curve, as if the prompt were written to an assistant in English: without what is left out. */
export function sumOf(fitted: Fitted, prompt: Pick<TrainingPrompt, 'structure' | 'buckets' | 'instruction'>): number {
  const { structure, buckets, instruction } = prompt
  let sum = fitted.bias[0] ?? 0
  for (let index = 0; index < structure.length; index++) sum += (fitted.structure[index] ?? 0) * (structure[index] ?? 0)
  return sum + partSum(fitted, buckets, 0, instruction) + partSum(fitted, buckets, instruction, buckets.length)
}

function partSum(fitted: Fitted, buckets: Uint32Array, from: number, to: number): number {
  if (to === from) return 0
  let sum = 0
  for (let index = from; index < to; index++) sum += fitted.buckets[buckets[index] ?? 0] ?? 0
  return sum / Math.sqrt(to - from)
}

function sumInTraining(fitted: Fitted, prompt: TrainingPrompt): number {
  let sum = sumOf(fitted, prompt) + (fitted.languages[prompt.language] ?? 0)
  if (prompt.family === 0) return sum
  const at = prompt.family * FAMILY_SIGNALS
  for (let index = 0; index < prompt.structure.length; index++) {
    sum += (fitted.families[at + index] ?? 0) * (prompt.structure[index] ?? 0)
  }
  return sum + (fitted.families[at + STRUCTURE.length] ?? 0)
}

function learnFrom(prompt: TrainingPrompt, fitted: Fitted, squares: Fitted): void {
  const { structure, buckets, instruction, family, language, weight } = prompt
  const error = (logistic(sumInTraining(fitted, prompt)) - prompt.label) * weight
  const adapt = (which: keyof Fitted, at: number, gradient: number) => {
    const [values, sums] = [fitted[which], squares[which]]
    const value = values[at] ?? 0
    const whole = gradient + DECAY[which] * weight * value
    const sum = (sums[at] ?? 0) + whole * whole
    sums[at] = sum
    values[at] = value - (RATE * whole) / Math.sqrt(sum)
  }
  adapt('bias', 0, error)
  for (let index = 0; index < structure.length; index++) {
    const strength = structure[index] ?? 0
    if (strength === 0) continue
    adapt('structure', index, error * strength)
    if (family > 0) adapt('families', family * FAMILY_SIGNALS + index, error * strength)
  }
  if (family > 0) adapt('families', family * FAMILY_SIGNALS + STRUCTURE.length, error)
  if (language > 0) adapt('languages', language, error)
  for (let index = 0; index < buckets.length; index++) {
    const size = index < instruction ? instruction : buckets.length - instruction
    adapt('buckets', buckets[index] ?? 0, error / Math.sqrt(size))
  }
}

/** The curve from a sum to a chance. */
export function logistic(sum: number): number {
  return 1 / (1 + Math.exp(-sum))
}

function shuffle(order: Uint32Array, random: () => number): void {
  for (let index = order.length - 1; index > 0; index--) {
    const other = Math.floor(random() * (index + 1))
    const kept = order[index] ?? 0
    order[index] = order[other] ?? 0
    order[other] = kept
  }
}

/** Marsaglia's xorshift. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 0x1_0000_0000
  }
}
