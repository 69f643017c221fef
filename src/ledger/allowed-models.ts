/** The models that a key may call, as the store keeps them: one text, written in one way only, so that two of them can be compared. */
import { assert } from '@/lib/assert'
import { parseJson } from '@/lib/json'

/** Ids of the models that a key may call; null = every model. */
export type AllowedModels = readonly string[] | null

/** The empty text for every model, else a JSON array in order, each id once. */
export function allowedModelsText(models: AllowedModels): string {
  return models === null ? '' : JSON.stringify([...new Set(models)].sort())
}

/** Reads {@link allowedModelsText} back. */
export function parseAllowedModels(text: string): AllowedModels {
  if (text === '') return null
  const models = parseJson(text)
  assert(
    Array.isArray(models) && models.every((model) => typeof model === 'string'),
    'the store holds no list of models',
  )
  return models
}
