/** The models that examples of the documentation name: ones that are sold here, so that examples can be sent as they stand. */
import type { Capability, Catalog, Model } from '@/catalog/types'

/** The first model of the catalogue that answers conversations and can do all of `capabilities`, or else the first of those. */
export function exampleModel(catalog: Catalog, ...capabilities: readonly Capability[]): string {
  const sold = ofKind(catalog, 'chat')
  const able = sold.find((model) => capabilities.every((capability) => model.capabilities.has(capability)))
  return (able ?? sold[0])?.id ?? ''
}

/** The first model of the catalogue that embeds texts; where there is none, a name that says what is missing. */
export function exampleEmbeddingModel(catalog: Catalog): string {
  return ofKind(catalog, 'embedding')[0]?.id ?? 'an-embedding-model'
}

function ofKind({ models }: Catalog, kind: Model['kind']): Model[] {
  return [...models.values()].filter((model) => model.kind === kind)
}
