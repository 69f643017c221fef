/** The matrix's clients by format. */
import type { FormatName } from '@/chat/format-name'
import { anthropicClient } from './anthropic'
import { genaiClient } from './genai'
import { openaiClient } from './openai'
import type { MatrixClient } from './sending'

export const CLIENTS: Record<FormatName, MatrixClient> = {
  'chat-completions': openaiClient,
  messages: anthropicClient,
  'generate-content': genaiClient,
}
