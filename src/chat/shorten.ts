/** Shortens an answer to the length that is charged. */
import type { AnswerBlock, ChatResponse, Choice } from './response'

/** `response` with at most `share` (0 to 1) of each choice's text, and finish reason "length". Tool calls are kept whole or omitted. */
export function shorten(response: ChatResponse, share: number): ChatResponse {
  return { ...response, choices: response.choices.map((choice) => shortenChoice(choice, share)) }
}

function shortenChoice(choice: Choice, share: number): Choice {
  let room = Math.floor(share * choice.content.reduce((sum, block) => sum + textOf(block).length, 0))
  const content: AnswerBlock[] = []
  for (const block of choice.content) {
    const { length } = textOf(block)
    if (length <= room) content.push(block)
    else if (room > 0 && 'text' in block)
      content.push({ ...block, text: block.text.slice(0, wholeCharacters(block.text, room)) })
    room = Math.max(0, room - length)
  }
  return { ...choice, content, finish: { kind: 'length' } }
}

function textOf(block: AnswerBlock): string {
  if (block.type === 'tool-call') return block.name + block.argumentsText
  return 'text' in block ? block.text : ''
}

/** `at`, or one less if `at` splits a surrogate pair. */
export function wholeCharacters(text: string, at: number): number {
  const code = text.charCodeAt(at)
  return at > 0 && code >= 0xdc00 && code <= 0xdfff ? at - 1 : at
}
