/** Turns one prompt into what the scorer weighs: buckets of words and strengths of structure, as in training. */
import { BUCKETS, fingerprint } from './fingerprint'
import { splitPrompt } from './instruction'
import { readStructure, STRUCTURE, type Structure } from './structure'

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
export const MAX_PAYLOAD_CHARS = 500
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
