/** Fields of requests other than conversations: fields that are passed on, and the gateway's own fields. */
import { invalidRequest } from '@/chat/error'
import { UNPRICED_EXTRAS } from '@/formats/body-fields'
import type { MediaTraits } from '@/formats/media-call'
import type { JsonObject } from '@/lib/json'

const OWN_FIELDS: readonly string[] = ['model', 'svc', 'fallback']

/** The fields of `body` that are not in `listed` and not the gateway's own. */
export function leftFields(body: JsonObject, listed: ReadonlySet<string>): string[] {
  return Object.keys(body).filter((field) => !listed.has(field) && !OWN_FIELDS.includes(field))
}

/** Refuses fallbacks: another model would make a different result, and may be priced in another unit. */
export function refuseFallback({ fallback }: JsonObject): void {
  if (fallback === undefined || fallback === null || (Array.isArray(fallback) && fallback.length === 0)) return
  throw invalidRequest('fallback is not possible here: another model would make something else', 'fallback')
}

/** The fields of `unlisted` that are not sent to this target. */
export function fieldsLeftOut(unlisted: readonly string[], { quirks, passFields }: MediaTraits): readonly string[] {
  return quirks.has(UNPRICED_EXTRAS) ? [] : unlisted.filter((field) => !passFields.has(field))
}

/** The body for a provider, without the gateway's own fields, null fields and the fields in `leftOut`. */
export function passedFields(body: JsonObject, leftOut: readonly string[]): JsonObject {
  const passed = Object.entries(body).filter(
    ([field, value]) => value !== null && !OWN_FIELDS.includes(field) && !leftOut.includes(field),
  )
  return Object.fromEntries(passed)
}
