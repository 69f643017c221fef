/** How long silence at one target is borne while another might answer: as long as the target is usually silent, and a good deal more. */

/** Milliseconds of silence after which something follows, as long as another target is left. */
export type Patience = {
  /** The next target is asked beside this one. */
  hedgeMs: number
  /** Where that may not be, because retries are used up: this one is given up for the next. */
  giveUpMs: number
}

/** Nobody is taken for silent sooner, however fast it usually is, unless its provider's `hedgeMs` says so. */
const MIN_HEDGE_MS = 5_000
/** As many times what all but a hundredth of its answers take. */
const USUAL_FACTOR = 4
/** A target that nobody knows yet. A whole answer is silence until it is there, so only a second try tells. */
const UNKNOWN_STREAM: Patience = { hedgeMs: 10_000, giveUpMs: 30_000 }
const UNKNOWN_WHOLE: Patience = { hedgeMs: 15_000, giveUpMs: 60_000 }

/** The patience with one target: `slowestMs` is the 99th percentile (undefined: unknown), `leastMs` the least. */
export function patienceWith(slowestMs: number | undefined, stream: boolean, leastMs: number | undefined): Patience {
  if (slowestMs === undefined) {
    if (leastMs !== undefined) return { hedgeMs: leastMs, giveUpMs: 2 * leastMs }
    return stream ? UNKNOWN_STREAM : UNKNOWN_WHOLE
  }
  const hedgeMs = Math.max(leastMs ?? MIN_HEDGE_MS, USUAL_FACTOR * slowestMs)
  return { hedgeMs, giveUpMs: 2 * hedgeMs }
}
