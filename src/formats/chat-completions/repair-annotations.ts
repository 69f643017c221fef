/** Annotations as OpenAI publishes them (citations of addresses), and their places in a stream's lists. */
import { isJsonObject, type JsonObject, type JsonValue, textOf } from '@/lib/json'
import type { JsonEdit } from '@/lib/json-splice'
import type { Put } from './repair'

/** Libraries throw at other vendors' kinds of annotations, and at citations that lack a field. */
export function repairAnnotations(put: Put, path: JsonEdit['path'], annotations: JsonValue | undefined): void {
  if (!Array.isArray(annotations)) return
  const list = [...path, 'annotations']
  for (const [place, annotation] of annotations.entries()) {
    const citation = isJsonObject(annotation) && annotation.type === 'url_citation' && annotation.url_citation
    if (isJsonObject(citation) && textOf(citation.url)) repairCitation(put, [...list, place, 'url_citation'], citation)
    else put([...list, place], undefined, 'annotations')
  }
}

function repairCitation(put: Put, path: JsonEdit['path'], citation: JsonObject): void {
  if (typeof citation.title !== 'string') put([...path, 'title'], '', 'annotations')
  for (const name of ['start_index', 'end_index']) {
    if (typeof citation[name] !== 'number') put([...path, name], 0, 'annotations')
  }
}

/** The repair of what the messages of one choice list beside their calls, each list told in pieces. */
export class ListRepair {
  /** Undefined before the first list. */
  private lengths: Map<string, number> | undefined

  /** Gives each thing in a list of `delta` the place that it has in the whole list, where it names none. */
  repair(put: Put, path: JsonEdit['path'], delta: JsonObject): void {
    for (const name in delta) {
      const list = delta[name]
      if (Array.isArray(list) && name !== 'tool_calls' && name !== 'content') this.repairList(put, path, name, list)
    }
  }

  private repairList(put: Put, path: JsonEdit['path'], name: string, list: readonly JsonValue[]): void {
    this.lengths ??= new Map()
    let length = this.lengths.get(name) ?? 0
    for (const [place, item] of list.entries()) {
      if (!isJsonObject(item)) continue
      const isPlaced = typeof item.index === 'number'
      if (!isPlaced) put([...path, name, place, 'index'], length, 'index')
      length = Math.max(length, (isPlaced ? Number(item.index) : length) + 1)
    }
    this.lengths.set(name, length)
  }
}
