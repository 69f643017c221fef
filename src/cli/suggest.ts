/** Maximum edit distance of a suggested word. */
const MAX_ERRORS = 3

/** Suggests the most similar of `known` for a mistyped command; undefined if none is similar. */
export function nearest(typed: string, known: readonly string[]): string | undefined {
  const ranked = known
    .map((words) => ({ words, errors: distance(typed, words) }))
    .sort((one, other) => one.errors - other.errors)
  const best = ranked[0]
  return best && best.errors <= MAX_ERRORS ? best.words : undefined
}

/** The edit distance: letters inserted, removed or replaced. */
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
