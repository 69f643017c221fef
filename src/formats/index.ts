/** All formats by name; no other file lists them. The first is the default for requests whose format is not recognised. */
import type { FormatName } from '@/chat/format-name'
import { chatCompletions, createChatCompletions } from '@/formats/chat-completions/index'
import { generateContent } from '@/formats/generate-content/index'
import { messages } from '@/formats/messages/index'
import { responses } from '@/formats/responses/index'
import { assert } from '@/lib/assert'
import type { Format } from './format'

const BY_NAME: Record<FormatName, Format> = {
  'chat-completions': chatCompletions,
  messages,
  'generate-content': generateContent,
  responses,
}

export const FORMATS: ReadonlyMap<FormatName, Format> = new Map(
  Object.values(BY_NAME).map((format) => [format.name, format]),
)

/** The formats, with a limit of `maxMessages` messages for the first: the only limit that an operator can raise. */
export function formatsWithMessages(maxMessages: number): ReadonlyMap<FormatName, Format> {
  const [first, ...others] = FORMATS
  assert(first, 'there is a first format')
  return new Map([[first[0], createChatCompletions(maxMessages)], ...others])
}
