/** A caller's protocol settings for providers of its own format: a version, and beta interfaces. */

/** One beta interface. */
export type Beta = {
  /** As the caller named it, such as `interleaved-thinking-2025-05-14`. */
  name: string
  /** The name without its date. */
  family: string
  /** Whether it is known to cost nothing beyond tokens, and to reach nothing beyond the request. */
  isFree: boolean
  /** The tool with a price of its own that it is for, if it is for one. */
  tool?: string
  /** Those fields of the body that mean nothing without it; a member of an object as its path. */
  fields: readonly string[]
}

/** Only what differs from the headers that the format's providers always get. */
export type Protocol = {
  version?: { header: string; value: string }
  /** The header of the betas. */
  betaHeader: string
  betas: readonly Beta[]
}
