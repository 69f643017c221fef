/** The events of a script in the words of each format's providers. */
import type { Random } from '@test/fuzz/random'
import type { Script } from '@test/whole-streams/script'
import type { FormatName } from '@/chat/format-name'
import { chatEvents } from './chat-completions'
import { contentEvents } from './generate-content'
import { messageEvents } from './messages'
import { responseEvents } from './responses'

/** Writes a script as one provider would; `random` chooses among the habits of its kind. Each event is a whole block. */
type Tell = (script: Script, random: Random) => string[]

export const TELL: Record<FormatName, Tell> = {
  'chat-completions': chatEvents,
  messages: messageEvents,
  'generate-content': contentEvents,
  responses: responseEvents,
}
