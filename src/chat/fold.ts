import { assertNever } from '@/lib/assert'
import type { ChatEvent } from './event'
import type { AnswerBlock, ChatResponse, Choice } from './response'
import type { Source } from './sources'

interface Folder {
  push(event: ChatEvent): void
  /** The answer so far. Choices are ordered by index, blocks by their start. */
  response(): ChatResponse
}

/** Combines a stream into a complete answer, for callers of JSON. It ignores `error` events, which its caller must handle. */
export function createFolder(): Folder {
  const response: ChatResponse = { id: '', created: 0, model: '', choices: [], usage: null }
  const blocks = new Map<number, AnswerBlock>()

  function choice(index: number): Choice {
    let found = response.choices.find((candidate) => candidate.index === index)
    if (!found) {
      found = { index, content: [], finish: { kind: 'stop' } }
      response.choices.push(found)
      response.choices.sort((left, right) => left.index - right.index)
    }
    return found
  }

  function open(event: { choice: number; block: number }, block: AnswerBlock): void {
    blocks.set(event.block, block)
    choice(event.choice).content.push(block)
  }

  function push(event: ChatEvent): void {
    switch (event.type) {
      case 'start':
        Object.assign(response, { id: event.id, model: event.model, created: event.created })
        if (event.serviceTier !== undefined) response.serviceTier = event.serviceTier
        return
      case 'text-start':
        open(event, { type: 'text', text: '' })
        return
      case 'refusal-start':
        open(event, { type: 'refusal', text: '' })
        return
      case 'reasoning-start':
        open(event, { type: 'reasoning', text: '', ...(event.redacted && { redacted: event.redacted }) })
        return
      case 'tool-call-start':
        open(event, { type: 'tool-call', id: event.id, name: event.name, argumentsText: '' })
        return
      case 'image':
        open(event, { type: 'image', source: { type: 'base64', mediaType: event.mediaType, data: event.data } })
        return
      case 'finish':
        choice(event.choice).finish = event.finish
        return
      case 'tool-uses':
        response.toolUses = { ...response.toolUses, ...event.uses }
        return
      case 'usage':
        response.usage = event.usage
        if (event.unknown) response.unknownUsage = event.unknown
        if (event.cost !== undefined) response.statedCost = event.cost
        if (event.serviceTier !== undefined) response.serviceTier = event.serviceTier
        return
      case 'error':
      case 'end':
        return
      default:
        extend(event)
    }
  }

  /** Adds sources to the text that they belong to. Sources in an empty block belong to the last text before it. */
  function cite(event: { choice: number; block: number }, sources: readonly Source[]): void {
    const own = blocks.get(event.block)
    const said = choice(event.choice).content.findLast((block) => block.type === 'text' && block.text !== '')
    const cited = own?.type === 'text' && own.text === '' && said ? said : own
    if (cited) Object.assign(cited, { sources })
  }

  function extend(event: Extract<ChatEvent, { type: `${string}-delta` | `${string}-end` }>): void {
    const block = blocks.get(event.block)
    if (!block) return
    switch (event.type) {
      case 'text-delta':
      case 'refusal-delta':
      case 'reasoning-delta':
        if ('text' in block) block.text += event.text
        return
      case 'tool-call-delta':
        if (block.type === 'tool-call') block.argumentsText += event.argumentsText
        return
      case 'text-end':
        if (event.signature) Object.assign(block, { signature: event.signature })
        if (event.sources) cite(event, event.sources)
        return
      case 'reasoning-end':
      case 'tool-call-end':
        if (event.signature && 'signature' in event) Object.assign(block, { signature: event.signature })
        return
      case 'refusal-end':
        return
      default:
        assertNever(event)
    }
  }

  return { push, response: () => response }
}
