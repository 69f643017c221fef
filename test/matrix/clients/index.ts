/** The matrix's clients by format: the newest major of each library, and the one before it. */
import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import Anthropic0 from 'anthropic-0'
import { GoogleGenAI as GoogleGenAI2 } from 'genai-2'
import OpenAI from 'openai'
import OpenAI6 from 'openai-6'
import type { FormatName } from '@/chat/format-name'
import { createAnthropicClient } from './anthropic'
import { createGenaiClient } from './genai'
import { createOpenaiClient } from './openai'
import { createResponsesClient } from './openai-responses'
import type { MatrixClient } from './sending'

export const CLIENTS: Record<FormatName, MatrixClient> = {
  'chat-completions': createOpenaiClient(OpenAI),
  messages: createAnthropicClient(Anthropic),
  'generate-content': createGenaiClient(GoogleGenAI),
  responses: createResponsesClient(OpenAI),
}

export const OLDER_CLIENTS: Record<FormatName, MatrixClient> = {
  'chat-completions': createOpenaiClient(OpenAI6 as unknown as typeof OpenAI),
  messages: createAnthropicClient(Anthropic0 as unknown as typeof Anthropic),
  'generate-content': createGenaiClient(GoogleGenAI2 as unknown as typeof GoogleGenAI),
  responses: createResponsesClient(OpenAI6 as unknown as typeof OpenAI),
}
