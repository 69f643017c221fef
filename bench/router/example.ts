/** One prompt of a public collection, with what the collection tells of its difficulty. */

export type Example = {
  text: string
  /** 1 where a small model failed or the collection says hard, 0 where a small model did, and between. */
  label: number
  /** The collection it is from, by the name that `sources.json` gives it. */
  source: string
  language: string
  /** What the collection itself calls this sort of prompt. */
  kind: string
  /** The instruction alone, where the collection keeps it apart from what it is to be done to; with a place for that, or without. */
  instruction?: string
}

/** Where in an instruction its material goes. */
export const MATERIAL_PLACE = '\u0000'

/** The files of one collection by their paths. */
export type SourceFiles = ReadonlyMap<string, Buffer>

/** A number from 0 to 1 that depends on nothing but `text`: draws the same sample everywhere. */
export function drawOf(text: string): number {
  return Bun.hash.murmur32v3(text, 7) / 0x1_0000_0000
}

/** At most about `count` of `examples`, drawn by their own text. */
export function sampleOf<T extends { text: string }>(examples: readonly T[], count: number): T[] {
  if (examples.length <= count) return [...examples]
  return [...examples].sort((left, right) => drawOf(left.text) - drawOf(right.text)).slice(0, count)
}
