/** What a person chooses in the playground, and the call that it makes. */
import type { JsonObject } from '@/lib/json'

export type Settings = {
  model: string
  system: string
  /** '' = the model's own. */
  temperature: number | ''
  maxTokens: number | ''
  payer: 'session' | 'key'
  /** Only ever in this page's memory. */
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

export type Message = { role: 'user' | 'assistant'; text: string }

/** The body of a chat completion. */
export function bodyOf(settings: Settings, messages: readonly Message[]): JsonObject {
  const { model, system, temperature, maxTokens } = settings
  const instructions = system.trim() === '' ? [] : [{ role: 'system', content: system }]
  return {
    model,
    messages: [...instructions, ...messages.map(({ role, text }) => ({ role, content: text }))],
    ...(temperature !== '' && { temperature }),
    ...(maxTokens !== '' && { max_tokens: maxTokens }),
  }
}

/** The key that a call is sent with; undefined where the session pays. */
export function keyOf({ payer, key }: Settings): string | undefined {
  return payer === 'key' ? key.trim() : undefined
}

/** Why nothing can be sent yet; undefined where it can. */
export function obstacle(settings: Settings): string | undefined {
  if (settings.model === '') return 'Choose a model first.'
  if (settings.payer === 'key' && settings.key.trim() === '') return 'Paste your API key, or pay by session.'
  return undefined
}
