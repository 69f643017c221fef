/** Encodes a prompt for the scorer, as in training: as hashes of its words (buckets) and structure signals. */
import { BUCKETS, fingerprint } from './fingerprint'
import { splitPrompt } from './instruction'
import { readStructure, STRUCTURE, type Structure } from './structure'

type EncodedPrompt = {
  structure: Structure
  /** Distinct buckets: first those of the instruction, then those of the material. */
  buckets: Uint32Array
  instructionBuckets: number
  allBuckets: number
  /** Characters of the material in the prompt, including those that are not read. */
  payloadChars: number
}

/** Maximum characters of the material to read. Material shows the kind of work, but little of its difficulty. */
export const MAX_PAYLOAD_CHARS = 500
/** Maximum buckets of one prompt: the longest sample has no more. */
const MAX_BUCKETS = 16_384

const encoded: EncodedPrompt = {
  structure: new Float32Array(STRUCTURE.length),
  buckets: new Uint32Array(MAX_BUCKETS),
  instructionBuckets: 0,
  allBuckets: 0,
  payloadChars: 0,
}
/** For each bucket, the number of the last call that found it. So the table needn't be cleared for every prompt. */
const metIn = new Uint32Array(BUCKETS)
let call = 0

/** Encodes `text`, a sample of a prompt with `chars` characters. */
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
