/** A caller's protocol settings for providers of its own format: version and beta features. */

export type Beta = {
  /** As the caller named it, such as `interleaved-thinking-2025-05-14`. */
  name: string
  /** The name without its date. */
  family: string
  /** Whether it costs nothing beyond tokens and reads nothing outside the request. */
  isFree: boolean
  /** The priced tool that it enables, if any. */
  tool?: string
  /** Body fields that depend on it; nested fields as paths. */
  fields: readonly string[]
}

/** Only settings that differ from the headers which this format's providers always get. */
export type Protocol = {
  version?: { header: string; value: string }
  /** The header that lists the betas. */
  betaHeader: string
  betas: readonly Beta[]
}
