/** Encodes an error for chat-completions clients, in the form common to OpenAI's APIs. */
export { encodeError } from '@/formats/openai'
