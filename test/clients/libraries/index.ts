/** Every client library that the gateway is tested with. */
import { agentsLibrary } from './agents'
import { aiSdkLibraries } from './ai-sdk'
import { anthropicLibraries } from './anthropic'
import { genaiLibraries } from './genai'
import { langchainLibrary } from './langchain'
import type { Library } from './library'
import { openaiLibraries } from './openai'
import { openaiResponsesLibraries } from './openai-responses'

export const LIBRARIES: readonly Library[] = [
  ...openaiLibraries,
  ...anthropicLibraries,
  ...genaiLibraries,
  ...openaiResponsesLibraries,
  agentsLibrary,
  langchainLibrary,
  ...aiSdkLibraries,
]
