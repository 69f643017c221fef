/** All formats by name: the only place that knows them all. The first is the one of requests that could be any format's. */
import type { FormatName } from '@/chat/format-name'
import { chatCompletions } from '@/formats/chat-completions/index'
import { generateContent } from '@/formats/generate-content/index'
import { messages } from '@/formats/messages/index'
import type { Format } from './format'

const BY_NAME: Record<FormatName, Format> = {
  'chat-completions': chatCompletions,
  messages,
  'generate-content': generateContent,
}

export const FORMATS: ReadonlyMap<FormatName, Format> = new Map(
  Object.values(BY_NAME).map((format) => [format.name, format]),
)
