/** A caller's protocol settings for providers of its own format: version and beta features. */

export type Beta = {
  name: string
  family: string
  /** Whether the beta costs nothing beyond tokens and reads nothing outside the request. */
  isFree: boolean
  /** The priced tool that the beta enables, if any. */
  tool?: string
  /** Body fields that need the beta; nested fields as paths. */
  fields: readonly string[]
}

/** The version and beta features that the caller asked for in headers, unless they are those that such providers always get. */
export type Protocol = {
  version?: { header: string; value: string }
  betaHeader: string
  betas: readonly Beta[]
}
