/** The playground's settings, and the API call made from them. */
import type { JsonObject } from '@/lib/json'

export type Settings = {
  model: string
  system: string
  /** '' is the model's default. */
  temperature: number | ''
  maxTokens: number | ''
  payer: 'session' | 'key'
  /** Only in this page's memory, never stored. */
  key: string
}

export const DEFAULT_SETTINGS: Settings = {
  model: '',
  system: '',
  temperature: '',
  maxTokens: '',
  payer: 'session',
  key: '',
}

/** A message of the conversation; `images` are data URLs. */
export type Message = { role: 'user' | 'assistant'; text: string; images?: readonly string[] }

/** The body of a chat completion. */
export function bodyOf(settings: Settings, messages: readonly Message[]): JsonObject {
  const { model, system, temperature, maxTokens } = settings
  const instructions = system.trim() === '' ? [] : [{ role: 'system', content: system }]
  return {
    model,
    messages: [...instructions, ...messages.map(toWire)],
    ...(temperature !== '' && { temperature }),
    ...(maxTokens !== '' && { max_tokens: maxTokens }),
  }
}

function toWire({ role, text, images = [] }: Message): JsonObject {
  if (images.length === 0) return { role, content: text }
  return {
    role,
    content: [{ type: 'text', text }, ...images.map((url) => ({ type: 'image_url', image_url: { url } }))],
  }
}

/** The API key that a call is sent with; undefined if the playground's own key pays. */
export function keyOf({ payer, key }: Settings): string | undefined {
  return payer === 'key' ? key.trim() : undefined
}

/** The reason why no request can be sent yet; undefined if it can. */
export function obstacle(settings: Settings): string | undefined {
  if (settings.model === '') return 'Choose a model first.'
  if (settings.payer === 'key' && settings.key.trim() === '') return 'Paste your API key, or pay by session.'
  return undefined
}
