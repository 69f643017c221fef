/** The numbers of a stream's events, which go on counting where events of our own stand between those of the provider. */
import type { JsonObject } from '@/lib/json'
import type { JsonEdit } from '@/lib/json-splice'
import type { Frame } from '@/lib/streams/sse'

interface EventNumbering {
  /** Events of our own as they are sent before `next`. */
  insert(events: readonly JsonObject[], next: JsonObject): Frame[]
  /** Adds what is to change in a number of the provider's, which are left alone until something was put in. */
  repair(edits: JsonEdit[], event: JsonObject): void
}

const NONE: Frame[] = []

/** Creates the numbering of one stream; events that came without a number are left so. */
export function createNumbering(): EventNumbering {
  let inserted = 0
  let next = 0

  return {
    insert(events, { sequence_number: stated }) {
      if (events.length === 0) return NONE
      const first = typeof stated === 'number' ? stated + inserted : next
      inserted += events.length
      next = first + events.length
      return events.map(({ type, ...fields }, index) => {
        const data = JSON.stringify({ type, sequence_number: first + index, ...fields })
        return { event: String(type), data }
      })
    },
    repair(edits, { sequence_number: stated }) {
      if (typeof stated !== 'number') return
      if (inserted > 0) edits.push({ path: ['sequence_number'], value: stated + inserted })
      next = stated + inserted + 1
    },
  }
}
