/** Every client library that the gateway is tested with. */
import { aiSdkLibraries } from './ai-sdk'
import { anthropicLibraries } from './anthropic'
import { genaiLibraries } from './genai'
import type { Library } from './library'
import { openaiLibraries } from './openai'

export const LIBRARIES: readonly Library[] = [
  ...openaiLibraries,
  ...anthropicLibraries,
  ...genaiLibraries,
  ...aiSdkLibraries,
]
