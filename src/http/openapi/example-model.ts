/** The catalogue's models in the documentation's examples: placeholders are replaced when the document is made. */
import type { Capability, Catalog, Model, ModelKind } from '@/catalog/types'

const STANDS_FOR = 'model-for-example:'
const KIND = 'kind-'
const WORDS = new RegExp(`${STANDS_FOR}([a-z,-]*)`, 'g')

/** The question and system prompt of the examples. */
export const QUESTION = 'Why is the sky blue? Answer in one sentence.'
export const SYSTEM = 'You are a helpful assistant.'
export const WEATHER_QUESTION = 'What is the weather in Zurich?'
export const WEATHER = { name: 'get_weather', description: 'The weather of a city, now' }
export const WEATHER_SCHEMA = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }

/** A placeholder for the first chat model of the catalogue with all `capabilities`, or else the first chat model. */
export function exampleModel(...capabilities: readonly Capability[]): string {
  return STANDS_FOR + capabilities.join(',')
}

/** A placeholder for the first model of this kind in the catalogue, or for a descriptive name if there is none. */
export function exampleOfKind(kind: Exclude<ModelKind, 'chat'>): string {
  return STANDS_FOR + KIND + kind
}

/** A placeholder for the first embedding model. */
export function exampleEmbeddingModel(): string {
  return exampleOfKind('embedding')
}

/** `text` with placeholders replaced by models of `catalog`. */
export function nameExampleModels(text: string, catalog: Catalog): string {
  return text.replace(WORDS, (_, wanted: string) => {
    if (wanted.startsWith(KIND)) {
      const kind = wanted.slice(KIND.length)
      return ofKind(catalog, kind)[0]?.id ?? `${/^[aei]/.test(kind) ? 'an' : 'a'}-${kind}-model`
    }
    const sold = ofKind(catalog, 'chat')
    const capabilities = wanted.split(',').filter((word) => word !== '') as Capability[]
    const able = sold.find((model) => capabilities.every((capability) => model.capabilities.has(capability)))
    return (able ?? sold[0])?.id ?? ''
  })
}

function ofKind({ models }: Catalog, kind: string): Model[] {
  return [...models.values()].filter((model) => model.kind === kind)
}
