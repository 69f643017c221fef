/** A tag of usage: a name and a value, told and stored as `name=value`. */

/** Of a request, and as many that are fixed on its key. */
export const MAX_TAGS = 8
const TAG = /^[a-z0-9_.-]{1,32}=[\x21-\x2b\x2d-\x7e]{1,64}$/

/** `text` where it is a tag: no blank and no comma is in it. */
export function readTag(text: string): string | undefined {
  return TAG.test(text) ? text : undefined
}

/** The name of a tag. */
export function tagName(tag: string): string {
  return tag.slice(0, tag.indexOf('='))
}

/** The tags of a request together with those fixed on its key, which win; in order, so that the same ones are the same text. */
export function withFixedTags(fixed: readonly string[], said: readonly string[] = []): string[] {
  const names = new Set(fixed.map(tagName))
  return [...fixed, ...said.filter((tag) => !names.has(tagName(tag)))].toSorted()
}
