/** Tags that are fixed on a key, as routes take them: whatever it is used for is sorted by them. */
import { Type } from '@sinclair/typebox'
import { invalidRequest } from '@/chat/error'
import { orNull } from '@/lib/schemas'
import { MAX_TAGS, readTag, tagName } from '@/usage/tags'

const MAX_TAG_CHARS = 97

export const KeyTagsField = orNull(
  Type.Array(Type.String({ maxLength: MAX_TAG_CHARS, examples: ['team=search'] }), { minItems: 1, maxItems: MAX_TAGS }),
  { description: '`name=value`, which win over tags that a request says; null = none' },
)

/** Reads a list of tags, in order. Throws `invalid_request`, quoting what is no tag, or a name that comes twice. */
export function readTags(list: readonly string[] | null): readonly string[] | null {
  const tags = list?.map(readOne).toSorted()
  const twice = tags?.find((tag, index) => tags.slice(0, index).some((other) => tagName(other) === tagName(tag)))
  if (twice !== undefined) throw invalidRequest(`The name '${tagName(twice)}' has two values.`, 'tags')
  return tags ?? null
}

function readOne(text: string): string {
  const tag = readTag(text.trim())
  if (tag !== undefined) return tag
  const hint =
    'Write it like team=search: up to 32 of a-z, 0-9, _ . - before the sign, and up to 64 without blanks behind it.'
  throw invalidRequest(`'${text}' is no tag. ${hint}`, 'tags')
}
