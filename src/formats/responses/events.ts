/** The types and numbers of events in a responses stream. */
import type { JsonObject } from '@/lib/json'
import type { JsonEdit } from '@/lib/json-splice'
import type { Frame } from '@/lib/streams/sse'

export const LIFECYCLE: ReadonlySet<string> = new Set([
  'response.queued',
  'response.created',
  'response.in_progress',
  'response.completed',
  'response.incomplete',
  'response.failed',
])
export const LAST_EVENTS: ReadonlySet<string> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
])

const HAPPENINGS: Record<string, readonly string[]> = {
  output_item: ['added', 'done'],
  content_part: ['added', 'done'],
  output_text: ['delta', 'done', 'annotation.added'],
  refusal: ['delta', 'done'],
  reasoning_text: ['delta', 'done'],
  reasoning_summary_part: ['added', 'done'],
  reasoning_summary_text: ['delta', 'done'],
  function_call_arguments: ['delta', 'done'],
  custom_tool_call_input: ['delta', 'done'],
  web_search_call: ['in_progress', 'searching', 'completed'],
  file_search_call: ['in_progress', 'searching', 'completed'],
  code_interpreter_call: ['in_progress', 'interpreting', 'completed'],
  code_interpreter_call_code: ['delta', 'done'],
  image_generation_call: ['in_progress', 'generating', 'partial_image', 'completed'],
  mcp_call: ['in_progress', 'completed', 'failed'],
  mcp_call_arguments: ['delta', 'done'],
  mcp_list_tools: ['in_progress', 'completed', 'failed'],
  shell_call_command: ['added', 'delta', 'done'],
  shell_call_output_content: ['delta', 'done'],
  compaction: ['compacting'],
  audio: ['delta', 'done', 'transcript.delta', 'transcript.done'],
}

const KNOWN: ReadonlySet<string> = new Set([
  ...LIFECYCLE,
  'error',
  'keepalive',
  ...Object.entries(HAPPENINGS).flatMap(([thing, words]) => words.map((word) => `response.${thing}.${word}`)),
])

/** Whether clients know an event of this type. */
export function isKnownEvent(type: string): boolean {
  return KNOWN.has(type)
}

/** Renumbers a provider's stream events after some of our own events were inserted. */
interface EventNumbering {
  /** Returns our `events` as frames, numbered so that they precede the provider's event `next`. */
  insert(events: readonly JsonObject[], next: JsonObject): Frame[]
  /** Adds an edit that corrects the number of the provider's `event`, if events were inserted before that event. */
  repair(edits: JsonEdit[], event: JsonObject): void
}

const NONE: Frame[] = []

/** Creates the numbering of one stream. A provider's event without a number stays without one. */
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
