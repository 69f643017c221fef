import { assertNever } from '@/lib/assert'
import type { ChatEvent } from './event'
import type { AnswerBlock, ChatResponse } from './response'

/** Turns a complete answer into stream events, for callers of streams. `fold.ts` does the opposite. The last event is `end`. */
export function unfold(response: ChatResponse): ChatEvent[] {
  const { id, model, created, usage, unknownUsage: unknown, statedCost: cost, toolUses: uses, serviceTier } = response
  const events: ChatEvent[] = [{ type: 'start', id, model, created, ...(serviceTier !== undefined && { serviceTier }) }]
  let block = 0
  for (const choice of response.choices) {
    for (const content of choice.content) {
      const own = blockEvents(content, choice.index, block)
      // A block that streams cannot express leaves no gap in the numbers.
      if (own.length > 0) block++
      events.push(...own)
    }
    events.push({ type: 'finish', choice: choice.index, finish: choice.finish })
  }
  if (uses) events.push({ type: 'tool-uses', uses })
  if (usage) events.push({ type: 'usage', usage, ...(unknown && { unknown }), ...(cost !== undefined && { cost }) })
  events.push({ type: 'end' })
  return events
}

function blockEvents(content: AnswerBlock, choice: number, block: number): ChatEvent[] {
  const at = { choice, block }
  switch (content.type) {
    case 'text':
      return [
        { type: 'text-start', ...at },
        { type: 'text-delta', ...at, text: content.text },
        {
          ...{ type: 'text-end', ...at },
          ...(content.signature && { signature: content.signature }),
          ...(content.sources && { sources: content.sources }),
        },
      ]
    case 'refusal':
      return [
        { type: 'refusal-start', ...at },
        { type: 'refusal-delta', ...at, text: content.text },
        { type: 'refusal-end', ...at },
      ]
    case 'reasoning':
      return [
        { type: 'reasoning-start', ...at, ...(content.redacted && { redacted: content.redacted }) },
        ...(content.text ? [{ type: 'reasoning-delta', ...at, text: content.text } satisfies ChatEvent] : []),
        { type: 'reasoning-end', ...at, ...(content.signature && { signature: content.signature }) },
      ]
    case 'tool-call':
      return [
        { type: 'tool-call-start', ...at, id: content.id, name: content.name },
        ...(content.argumentsText
          ? [{ type: 'tool-call-delta', ...at, argumentsText: content.argumentsText } satisfies ChatEvent]
          : []),
        { type: 'tool-call-end', ...at, ...(content.signature && { signature: content.signature }) },
      ]
    case 'image':
      return content.source.type === 'base64'
        ? [{ type: 'image', ...at, mediaType: content.source.mediaType, data: content.source.data }]
        : []
    case 'audio':
      return []
    default:
      return assertNever(content)
  }
}
