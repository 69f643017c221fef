/** Weighs a prompt's text with what training learned, and says which of its words and traits weighed most. */
import { BUCKETS, fingerprint } from './fingerprint'
import { splitPrompt } from './instruction'
import { STRUCTURE, type Structure, readStructure } from './structure'
import { assert } from '@/lib/assert'
import { readFileSync } from 'node:fs'
import file from './weights.bin' with { type: 'file' }

/** What the text alone tells. */
type TextScore = {
  /** Before the logistic curve: 0 is as likely easy as hard. */
  sum: number
  code: number
  mathematics: number
  materialChars: number
}

/** One reason of a score, in words, and what it added (hard) or took off (easy). */
export type Contribution = { because: string; effect: number }

const weights = loadWeights()
const CODE = STRUCTURE.indexOf('program code')
const FENCED = STRUCTURE.indexOf('material is code')
const FORMULAS = STRUCTURE.indexOf('formulas')
const TEX = STRUCTURE.indexOf('TeX')

/** Scores `text`, a sample of a prompt that was `chars` long. */
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

/** The `most` reasons that moved the score of `text` furthest. Slower than {@link scoreText}: for explanations. */
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

/** A word is told all that its pieces, its place and the pair it ends add. What occurs twice counts once, as in the score. */
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

/** Opens the file in which the trained weights of the router’s scorer stand, `weights.bin`: a header, a number for every signal of structure, and a byte for every bucket. */
export type Weights = {
  bias: number
  /** How steep the curve from the sum to the difficulty is. */
  slope: number
  structure: Float32Array
  buckets: Int8Array
  /** What one step of a bucket's byte is worth. */
  step: number
}

/** Where training writes to. */
export const WEIGHTS_FILE = file
const MARK = 0x31_52_54_52
const HEADER_BYTES = 24

/** Reads the file that `bun run train:router` wrote. Fails where it was written for other signals than those of this program. */
export function loadWeights(): Weights {
  const bytes = readFileSync(WEIGHTS_FILE)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const isOurs = view.getUint32(0, true) === MARK && view.getUint32(4, true) === STRUCTURE.length
  assert(isOurs && view.getUint32(8, true) === BUCKETS, 'weights.bin was trained for these signals')
  const structure = Float32Array.from(STRUCTURE, (_, index) => view.getFloat32(HEADER_BYTES + 4 * index, true))
  const buckets = new Int8Array(bytes.subarray(HEADER_BYTES + 4 * STRUCTURE.length))
  assert(buckets.length === BUCKETS, 'weights.bin is whole')
  return {
    bias: view.getFloat32(12, true),
    slope: view.getFloat32(16, true),
    step: view.getFloat32(20, true),
    structure,
    buckets,
  }
}

/** What a prompt looks like to the scorer. Overwritten by the next call of {@link encodePrompt}. */
type EncodedPrompt = {
  structure: Structure
  /** Distinct buckets: first those of the instruction, then those of the material. */
  buckets: Uint32Array
  instructionBuckets: number
  allBuckets: number
  /** Characters of the material, with those that the sample left out. */
  payloadChars: number
}

/** The material is read to here: it says what kind of work it is, not how hard. */
const MAX_PAYLOAD_CHARS = 500
/** As many as a sample of the greatest length can have. */
const MAX_BUCKETS = 16_384

const encoded: EncodedPrompt = {
  structure: new Float32Array(STRUCTURE.length),
  buckets: new Uint32Array(MAX_BUCKETS),
  instructionBuckets: 0,
  allBuckets: 0,
  payloadChars: 0,
}
/** In which call a bucket was met last: saves emptying a table for every prompt. */
const metIn = new Uint32Array(BUCKETS)
let call = 0

/** Encodes `text`, a sample of a prompt that was `chars` long. */
export function encodePrompt(text: string, chars: number): EncodedPrompt {
  const parts = splitPrompt(text)
  encoded.payloadChars = parts.payload.length + Math.max(0, chars - text.length)
  readStructure(parts, encoded.payloadChars, encoded.structure)
  encoded.allBuckets = 0
  nextCall()
  fingerprint(parts.instruction, false, takeBucket)
  encoded.instructionBuckets = encoded.allBuckets
  nextCall()
  fingerprint(parts.payload.slice(0, MAX_PAYLOAD_CHARS), true, takeBucket)
  return encoded
}

function takeBucket(bucket: number): void {
  if (metIn[bucket] === call || encoded.allBuckets === MAX_BUCKETS) return
  metIn[bucket] = call
  encoded.buckets[encoded.allBuckets++] = bucket
}

function nextCall(): void {
  call++
  if (call <= 0xffff_fffe) return
  metIn.fill(0)
  call = 1
}
