import type { Catalog } from '@/catalog/types'
import type { Fault } from '@/lib/fault'
import { generationOf, isPreview } from './generations'
import { SECOND_MODELS } from './second-source'

/** The sources' names of vendors that make models. Services that host other vendors' models are missing. */
const VENDORS = new Set('openai anthropic google x-ai mistral deepseek moonshotai'.split(' '))
const SOLD_KINDS = new Set(['chat', 'chat-by-responses', 'embedding'])

/** Warns of each target whose model line has a later version on `day` that is no preview. */
export function newerGenerations({ models }: Catalog, day: string): Fault[] {
  const newest = newestOfLines(day)
  return [...models.values()].flatMap(({ id, targets }) =>
    targets.flatMap(({ model }) => {
      const own = generationOf(model)
      const other = own && newest.get(own.line)
      if (!own || !other || other.version <= own.version) return []
      return [{ place: id, message: `${model} has a newer generation: ${other.model}` }]
    }),
  )
}

function newestOfLines(day: string): ReadonlyMap<string, { model: string; version: number }> {
  const newest = new Map<string, { model: string; version: number }>()
  for (const { provider, id, kind, retires } of SECOND_MODELS) {
    if (!VENDORS.has(provider) || !SOLD_KINDS.has(kind) || isPreview(id) || (retires !== undefined && retires < day))
      continue
    const found = generationOf(id)
    if (found && found.version > (newest.get(found.line)?.version ?? 0))
      newest.set(found.line, { model: id, version: found.version })
  }
  return newest
}
