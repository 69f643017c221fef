/**
 * What is made of an answer that is longer than its limit. A vocabulary is not the provider's own, so a count of ours speaks
 * only where it is far enough off: it must neither cut an honest answer nor let a dishonest bill pass.
 */

/** The provider’s own count may be smaller by this factor: in scripts that its vocabulary knows and ours spells out, by about two. */
const VOCABULARY_FACTOR = 2
/** Short answers differ by more than a factor. */
const SLACK_TOKENS = 50
/** A bill is confirmed where it is no more than this much above our count. */
const AGREEMENT_FACTOR = 1.25

/** Whether text that we count as `counted` tokens is beyond a limit of `outputBound`, in whatever vocabulary. */
export function isBeyondLimit(counted: number, outputBound: number): boolean {
  return counted > beyondLimit(outputBound)
}

/** The most that we may count of an answer that keeps to a limit of `outputBound`. */
export function beyondLimit(outputBound: number): number {
  return outputBound * VOCABULARY_FACTOR + SLACK_TOKENS
}

/**
 * The output that is charged of `claimed` tokens. `counted` is our own count of what was relayed, undefined where there is none;
 * `isStated` tells whether the claim is the provider's final word. What is beyond the limit is charged as far as our count
 * confirms it: hidden reasoning that takes an answer beyond its limit is not.
 */
export function confirmedOutput(
  claimed: number,
  { counted, isStated, outputBound }: { counted: number | undefined; isStated: boolean; outputBound: number },
): number {
  if (claimed <= outputBound) return claimed
  const isConfirmed = counted !== undefined && (isStated ? counted > outputBound : isBeyondLimit(counted, outputBound))
  if (!isConfirmed) return outputBound
  return claimed <= counted * AGREEMENT_FACTOR ? claimed : counted
}
