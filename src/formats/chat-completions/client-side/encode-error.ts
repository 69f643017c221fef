/** An error of ours in the words of chat-completions clients, which are those of all that OpenAI publishes. */
export { encodeError } from '@/formats/openai'
