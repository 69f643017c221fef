/** Models and tiers with their prices, as pages request them. */
import { useQuery } from '@tanstack/react-query'
import type { ModelBody, ModelCatalogue } from '@/console/http/model-routes'
import { send } from './client'

export type { ModelBody, TierBody } from '@/console/http/model-routes'

/** After a change of the catalogue, open pages update within a minute. */
const FRESH_MS = 60_000

/** All models and tiers, in the catalogue's order. */
export function useCatalogue() {
  return useQuery({
    queryKey: ['models'],
    staleTime: FRESH_MS,
    queryFn: async () => (await send('GET', '/dashboard/api/models')).value as ModelCatalogue,
  })
}

/** Models that answer conversations; the others create embeddings. */
export function chatModels(models: readonly ModelBody[]): ModelBody[] {
  return models.filter(({ kind }) => kind === 'chat')
}
