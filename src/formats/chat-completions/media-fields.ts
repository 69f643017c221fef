/** Fields of requests that are no conversations: which are passed on, and which are ours. */
import { invalidRequest } from '@/chat/error'
import { UNPRICED_EXTRAS } from '@/formats/body-fields'
import type { MediaTraits } from '@/formats/media-call'
import type { JsonObject } from '@/lib/json'

const OWN_FIELDS: readonly string[] = ['model', 'svc', 'fallback']

/** The fields of `body` that no rule passes on. */
export function leftFields(body: JsonObject, listed: ReadonlySet<string>): string[] {
  return Object.keys(body).filter((field) => !listed.has(field) && !OWN_FIELDS.includes(field))
}

/** Models of these kinds differ in what they make and in their units, so fallbacks are refused. */
export function refuseFallback({ fallback }: JsonObject): void {
  if (fallback === undefined || fallback === null || (Array.isArray(fallback) && fallback.length === 0)) return
  throw invalidRequest('fallback is not possible here: another model would make something else', 'fallback')
}

/** The fields among `unlisted` that this target is not sent. */
export function fieldsLeftOut(unlisted: readonly string[], { quirks, passFields }: MediaTraits): readonly string[] {
  return quirks.has(UNPRICED_EXTRAS) ? [] : unlisted.filter((field) => !passFields.has(field))
}

/** The body for a provider: without our own fields, empty ones, and those that are left out. */
export function passedFields(body: JsonObject, leftOut: readonly string[]): JsonObject {
  const passed = Object.entries(body).filter(
    ([field, value]) => value !== null && !OWN_FIELDS.includes(field) && !leftOut.includes(field),
  )
  return Object.fromEntries(passed)
}
