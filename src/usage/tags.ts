/** A usage tag: a name and a value, sent and stored as `name=value`. */

/** Maximum tags that a request sends; its key may add as many again. */
export const MAX_TAGS = 8
const TAG = /^[a-z0-9_.-]{1,32}=[\x21-\x2b\x2d-\x7e]{1,64}$/

/** Returns `text` if it is a valid tag, without spaces and commas. */
export function readTag(text: string): string | undefined {
  return TAG.test(text) ? text : undefined
}

/** The name of a tag. */
export function tagName(tag: string): string {
  return tag.slice(0, tag.indexOf('='))
}

/** Merges the tags of a request with those of its key, which override them; sorted, so that equal sets have equal texts. */
export function withFixedTags(fixed: readonly string[], said: readonly string[] = []): string[] {
  const names = new Set(fixed.map(tagName))
  return [...fixed, ...said.filter((tag) => !names.has(tagName(tag)))].toSorted()
}
