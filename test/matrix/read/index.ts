/** The strict readers of what clients receive, by format. */
import type { FormatName } from '@/chat/format-name'
import { chatCompletionsReader } from './chat-completions'
import { generateContentReader } from './generate-content'
import { messagesReader } from './messages'
import type { Reader } from './reading'
import { responsesReader } from './responses'

export const READERS: Record<FormatName, Reader> = {
  'chat-completions': chatCompletionsReader,
  messages: messagesReader,
  'generate-content': generateContentReader,
  responses: responsesReader,
}
