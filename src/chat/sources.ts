/** Web pages that an answer cites as sources, independent of formats. */

/** `start` and `end` are the cited range in the choice's whole text, in UTF-16 units; missing if unknown. `quote` is text from the page. */
export type Source = { url: string; title?: string; quote?: string; start?: number; end?: number }

/** Reads a source; undefined without a URL. Values of other types count as missing. */
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

/** The sources, each with a range. Default: the whole text, which begins at `before` and has `length` units. */
export function withPlaces(sources: readonly Source[], before: number, length: number): Source[] {
  return sources.map((source) =>
    source.start === undefined ? { ...source, start: before, end: before + length } : source,
  )
}

/** The sources with their ranges moved by `by`; a range that would start before 0 is removed. */
export function movedBy(sources: readonly Source[], by: number): Source[] {
  return sources.map(({ start, end, ...source }) => {
    const isPlaced = start !== undefined && end !== undefined && start + by >= 0
    return isPlaced ? { ...source, start: start + by, end: end + by } : source
  })
}

/** The sources without ranges, for texts whose position is unknown. */
export function withoutPlaces(sources: readonly Source[]): Source[] {
  return sources.map(({ start: _, end: __, ...source }) => source)
}

function isPlace(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
