/** The names of all wire formats: families 1 (OpenAI), 2 (Anthropic), 3 (Gemini) and 4 (OpenAI's Responses). */
export const FORMAT_NAMES = ['chat-completions', 'messages', 'generate-content', 'responses'] as const

export type FormatName = (typeof FORMAT_NAMES)[number]
