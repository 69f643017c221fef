/** Guesses what somebody meant who has mistyped a command. */

/** More typing errors than this make another word. */
const MAX_ERRORS = 3

/** The one of `known` that `typed` is nearest to; undefined if none is near. */
export function nearest(typed: string, known: readonly string[]): string | undefined {
  const ranked = known
    .map((words) => ({ words, errors: distance(typed, words) }))
    .sort((one, other) => one.errors - other.errors)
  const best = ranked[0]
  return best && best.errors <= MAX_ERRORS ? best.words : undefined
}

/** Letters put in, left out or changed on the way from one text to the other. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (const [line, letter] of [...one].entries()) {
    const next = [line + 1]
    for (const [column, wanted] of [...other].entries()) {
      const changed = (row[column] ?? 0) + (letter === wanted ? 0 : 1)
      next.push(Math.min(changed, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1))
    }
    row = next
  }
  return row[other.length] ?? 0
}
