/** Aliases: alternative names of models and tiers, and the function that resolves a requested name. */
import { isJsonObject } from '@/lib/json'
import type { FaultList } from './check'
import type { Catalog, Model, Tier } from './types'

/** The model or tier with this id or alias; undefined if there is none. */
export function findSold({ models, tiers, aliases }: Catalog, name: string): Model | Tier | undefined {
  return models.get(name) ?? tiers.get(name) ?? aliases.get(name)
}

/** The model or tier of each alias. */
export function mapAliases(sold: readonly (Model | Tier)[]): ReadonlyMap<string, Model | Tier> {
  return new Map(sold.flatMap((entry) => entry.aliases.map((alias) => [alias, entry] as const)))
}

type Lists = { models: readonly unknown[]; tiers?: readonly unknown[] }

/** Adds a fault for each alias that is another entry's id or alias, or a duplicate. Also checks entries with other faults. */
export function checkAliases({ models, tiers = [] }: Lists, faults: FaultList): void {
  const entries = [...placesOf(models, 'models'), ...placesOf(tiers, 'tiers')]
  const places = new Map<string, string>()
  for (const { place, id } of entries) if (typeof id === 'string' && !places.has(id)) places.set(id, `${place}.id`)
  for (const { place, aliases } of entries) {
    for (const [index, alias] of (Array.isArray(aliases) ? aliases : []).entries()) {
      if (typeof alias !== 'string') continue
      const at = `${place}.aliases[${index}]`
      const other = places.get(alias)
      if (other !== undefined) faults.add(at, `${alias} is also ${other}; expected a name of its own`)
      else places.set(alias, at)
    }
  }
}

function placesOf(entries: readonly unknown[], list: string) {
  return entries.map((entry, index) => {
    const { id, aliases } = isJsonObject(entry) ? entry : {}
    return { place: `${list}[${index}]`, id, aliases }
  })
}
