/** The names of the wire formats the gateway speaks, on both sides. */

/** `chat-completions` is family 1 (OpenAI style), `messages` family 2 (Anthropic style), `generate-content` family 3 (Gemini style). */
export const FORMAT_NAMES = ['chat-completions', 'messages', 'generate-content'] as const

export type FormatName = (typeof FORMAT_NAMES)[number]
