/** What can be called, as pages ask for it: models and tiers with their prices. */
import { useQuery } from '@tanstack/react-query'
import type { ModelBody } from '@/console/http/model-routes'
import { answer, api } from './client'

export type { ModelBody, TierBody } from '@/console/http/model-routes'

/** The catalogue changes now and then; pages that stay open find out within a minute. */
const FRESH_MS = 60_000

/** Every model and tier, in the catalogue's order. */
export function useCatalogue() {
  return useQuery({ queryKey: ['models'], staleTime: FRESH_MS, queryFn: () => answer(api.models.get()) })
}

/** The models that answer conversations; the others embed texts. */
export function chatModels(models: readonly ModelBody[]): ModelBody[] {
  return models.filter(({ kind }) => kind === 'chat')
}
