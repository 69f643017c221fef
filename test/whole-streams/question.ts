/** How a client of each format asks for a stream with everything in it: as long as it may be, with its reasoning shown. */
import type { FormatName } from '@/chat/format-name'
import type { JsonObject } from '@/lib/json'

export const MOST_TOKENS = 128_000
const THINKING_TOKENS = 1_024

/** What is asked; `name` is by what a provider knows which answer to give. */
export function promptOf(name: string): string {
  return `<${name}>`
}

/** The body of a question. */
export function questionIn(format: FormatName, prompt: string, fallback: readonly string[]): JsonObject {
  const others = fallback.length > 0 && { fallback: [...fallback] }
  const messages = [{ role: 'user', content: prompt }]
  switch (format) {
    case 'chat-completions':
      return { messages, max_completion_tokens: MOST_TOKENS, reasoning_effort: 'high', ...others }
    case 'messages': {
      const thinking = { type: 'enabled', budget_tokens: THINKING_TOKENS }
      return { messages, max_tokens: MOST_TOKENS, thinking, ...others }
    }
    case 'responses':
      return {
        input: messages,
        max_output_tokens: MOST_TOKENS,
        reasoning: { effort: 'high', summary: 'auto' },
        ...others,
      }
    case 'generate-content': {
      const thinkingConfig = { includeThoughts: true, thinkingBudget: THINKING_TOKENS }
      return {
        contents: [{ role: 'user', parts: [{ text: prompt }] }],
        generationConfig: { maxOutputTokens: MOST_TOKENS, thinkingConfig },
        ...others,
      }
    }
  }
}

/** The name in a body, whatever its format. */
export function nameIn(body: string): string {
  return /<([\w-]+)>/.exec(body)?.[1] ?? ''
}

/** The numbers in a name. */
export function numbersIn(name: string): number[] {
  return [...name.matchAll(/\d+/g)].map(([digits]) => Number(digits))
}
