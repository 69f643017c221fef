/** The names of the wire formats the gateway speaks, on both sides. */

/**
 * `chat-completions` is family 1 (OpenAI style), `messages` family 2 (Anthropic style), `generate-content` family 3 (Gemini style),
 * `responses` family 4 (OpenAI's Responses).
 */
export const FORMAT_NAMES = ['chat-completions', 'messages', 'generate-content', 'responses'] as const

export type FormatName = (typeof FORMAT_NAMES)[number]
