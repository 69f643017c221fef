/** Packs what was fitted into the file that the router loads: a bucket's weight is one of 255 steps. */
import type { Weights } from '@/routing/difficulty/weights'
import type { Curve } from './calibrate'
import type { Fitted } from './learn'

const MOST_STEPS = 127
/** The few weights beyond this share of all are cut to it, so that the rest keep their differences. */
const KEPT_SHARE = 0.9995

/** The weights of `fitted` as the scorer takes them. */
export function toWeights(fitted: Fitted, { slope, shift }: Curve): Weights {
  const sizes = fitted.buckets.map(Math.abs).sort()
  const step = (sizes[Math.floor(KEPT_SHARE * (sizes.length - 1))] ?? 1) / MOST_STEPS
  return {
    bias: (fitted.bias[0] ?? 0) + shift,
    slope,
    structure: Float32Array.from(fitted.structure),
    step,
    buckets: Int8Array.from(fitted.buckets, (weight) =>
      Math.max(-MOST_STEPS, Math.min(MOST_STEPS, Math.round(weight / step))),
    ),
  }
}

/** As `src/routing/difficulty/weights.ts` reads it. */
const MARK = 0x31_52_54_52
const HEADER_BYTES = 24

/** The bytes of the file. */
export function formatWeights({ bias, slope, step, structure, buckets }: Weights): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES + 4 * structure.length + buckets.length)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, MARK, true)
  view.setUint32(4, structure.length, true)
  view.setUint32(8, buckets.length, true)
  view.setFloat32(12, bias, true)
  view.setFloat32(16, slope, true)
  view.setFloat32(20, step, true)
  structure.forEach((weight, index) => {
    view.setFloat32(HEADER_BYTES + 4 * index, weight, true)
  })
  bytes.set(new Uint8Array(buckets.buffer, buckets.byteOffset, buckets.length), HEADER_BYTES + 4 * structure.length)
  return bytes
}
