/** Reads `weights.bin`, the trained weights of the router's scorer: a header, a number per structure signal, a byte per bucket. */
import { readFileSync } from 'node:fs'
import { assert } from '@/lib/assert'
import { BUCKETS } from './fingerprint'
import { STRUCTURE } from './structure'
import file from './weights.bin' with { type: 'file' }

export type Weights = {
  bias: number
  /** The slope of the curve from the sum to the difficulty. */
  slope: number
  structure: Float32Array
  buckets: Int8Array
  /** The factor from a bucket's byte to its weight. */
  step: number
}

export const WEIGHTS_FILE = file
const MARK = 0x31_52_54_52
const HEADER_BYTES = 24

/** Reads the file written by `bun run train:router`. Throws if the file was written for different signals than this program's. */
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
