/** The pages that an answer names as its sources, in no format's own words. */

/**
 * One of them. `start` and `end` are where it is used among all texts of the choice, in UTF-16 units; missing where that is not known.
 * `quote` is what the page says there.
 */
export type Source = { url: string; title?: string; quote?: string; start?: number; end?: number }

/** Reads a source; undefined if it has no address. Values of other types count as missing. */
export function readSource(given: { [Field in keyof Source]: unknown }): Source | undefined {
  const { url, title, quote, start, end } = given
  if (typeof url !== 'string' || url === '') return undefined
  const isPlaced = isPlace(start) && isPlace(end) && end > start
  return {
    url,
    ...(typeof title === 'string' && title !== '' && { title }),
    ...(typeof quote === 'string' && quote !== '' && { quote }),
    ...(isPlaced && { start, end }),
  }
}

/** The sources with a place: where none is known, all of a text of `length` behind `before` units of others. */
export function withPlaces(sources: readonly Source[], before: number, length: number): Source[] {
  return sources.map((source) =>
    source.start === undefined ? { ...source, start: before, end: before + length } : source,
  )
}

/** The sources with their places moved by `by`; those that would thereby stand nowhere lose theirs. */
export function movedBy(sources: readonly Source[], by: number): Source[] {
  return sources.map(({ start, end, ...source }) => {
    const isPlaced = start !== undefined && end !== undefined && start + by >= 0
    return isPlaced ? { ...source, start: start + by, end: end + by } : source
  })
}

/** The sources without their places, for texts of which it is not known where they begin. */
export function withoutPlaces(sources: readonly Source[]): Source[] {
  return sources.map(({ start: _, end: __, ...source }) => source)
}

function isPlace(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
