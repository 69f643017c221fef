/** Annotations of a text as OpenAI publishes them for responses: four kinds, none of which may lack a field. */
import type { Repair } from '@/formats/repairs'
import { isJsonObject, type JsonObject, type JsonValue, textOf } from '@/lib/json'
import type { JsonEdit } from '@/lib/json-splice'

/** Takes note that what stands at `path` is to be `value`, or to go, because `repair` was not as published. */
export type Put = (path: JsonEdit['path'], value: JsonValue | undefined, repair: Repair) => void

type Kind = { about: string; rest: Readonly<Record<string, string | number>> }

/** What each kind is about, without which it says nothing; and what else it has, by what stands for it where it was left out. */
const KINDS: ReadonlyMap<JsonValue | undefined, Kind> = new Map<JsonValue | undefined, Kind>([
  ['url_citation', { about: 'url', rest: { title: '', start_index: 0, end_index: 0 } }],
  ['file_citation', { about: 'file_id', rest: { filename: '', index: 0 } }],
  [
    'container_file_citation',
    { about: 'file_id', rest: { container_id: '', filename: '', start_index: 0, end_index: 0 } },
  ],
  ['file_path', { about: 'file_id', rest: { index: 0 } }],
])

/** Puts an annotation right; false where it is none that clients know, and they are better off without it. */
export function repairAnnotation(put: Put, path: JsonEdit['path'], annotation: JsonValue | undefined): boolean {
  if (!isKnownAnnotation(annotation)) return false
  for (const [name, none] of Object.entries(KINDS.get(annotation.type)?.rest ?? {})) {
    if (typeof annotation[name] !== typeof none) put([...path, name], none, 'annotations')
  }
  return true
}

/** Puts a list of them right. */
export function repairAnnotations(put: Put, path: JsonEdit['path'], list: readonly JsonValue[]): void {
  for (const [place, annotation] of list.entries()) {
    if (!repairAnnotation(put, [...path, place], annotation)) put([...path, place], undefined, 'annotations')
  }
}

/** Whether it is of a kind that clients know, and about something. */
export function isKnownAnnotation(annotation: JsonValue | undefined): annotation is JsonObject {
  if (!isJsonObject(annotation)) return false
  const kind = KINDS.get(annotation.type)
  return kind !== undefined && Boolean(textOf(annotation[kind.about]))
}
