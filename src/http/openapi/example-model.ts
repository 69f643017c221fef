/**
 * The models that examples of the documentation name: ones that are sold here, so that examples can be sent as they stand. What
 * is sold may change, so examples are written with words that stand for a model, and the document is given the models' names.
 */
import type { Capability, Catalog, Model } from '@/catalog/types'

const STANDS_FOR = 'model-for-example:'
const EMBEDDING = 'embedding'
const WORDS = new RegExp(`${STANDS_FOR}([a-z,-]*)`, 'g')

/** The question of the examples, and the tool that some of them offer. */
export const QUESTION = 'Why is the sky blue? Answer in one sentence.'
export const SYSTEM = 'You are a helpful assistant.'
export const WEATHER_QUESTION = 'What is the weather in Zurich?'
export const WEATHER = { name: 'get_weather', description: 'The weather of a city, now' }
export const WEATHER_SCHEMA = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }

/** Stands for the first model of the catalogue that answers conversations and can do all of `capabilities`, or else the first of those. */
export function exampleModel(...capabilities: readonly Capability[]): string {
  return STANDS_FOR + capabilities.join(',')
}

/** Stands for the first model of the catalogue that embeds texts; if there is none, for a name that says what is missing. */
export function exampleEmbeddingModel(): string {
  return STANDS_FOR + EMBEDDING
}

/** `text` with the names of models of `catalog` for what stands for them. */
export function nameExampleModels(text: string, catalog: Catalog): string {
  return text.replace(WORDS, (_, wanted: string) => {
    if (wanted === EMBEDDING) return ofKind(catalog, 'embedding')[0]?.id ?? 'an-embedding-model'
    const sold = ofKind(catalog, 'chat')
    const capabilities = wanted.split(',').filter((word) => word !== '') as Capability[]
    const able = sold.find((model) => capabilities.every((capability) => model.capabilities.has(capability)))
    return (able ?? sold[0])?.id ?? ''
  })
}

function ofKind({ models }: Catalog, kind: Model['kind']): Model[] {
  return [...models.values()].filter((model) => model.kind === kind)
}
