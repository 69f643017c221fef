import { checkPart, type FaultList } from './check'
import { cannotConverse } from './media-models'
import type { ModelList } from './models'
import { type TierFile, TierSchema } from './schema'
import type { Model, Tier } from './types'

type TierList = { offered: Map<string, Tier>; notOffered: string[] }

const STRATEGIES = ['smart', 'fast', 'cheap'] as const

/** The default share of answers counted by model: enough to compare models within days. */
const DEFAULT_OBSERVED_SHARE = 0.05

const TIER_ID = /^auto-[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/

/** Reads the catalogue file's tiers: `auto-*` names over several models. Omits candidates that are not offered, and tiers without any. */
export function readTiers(entries: readonly unknown[], models: ModelList, faults: FaultList): TierList {
  const seen = new Set<string>()
  const offered = new Map<string, Tier>()
  const notOffered: string[] = []
  for (const [index, entry] of entries.entries()) {
    const place = `tiers[${index}]`
    const file = checkPart(TierSchema, entry, place, faults)
    const id = (entry as { id?: unknown } | null)?.id
    if (typeof id !== 'string') continue
    if (!TIER_ID.test(id)) faults.add(`${place}.id`, 'expected auto- and a word of letters, digits, . _ and -')
    if (seen.has(id)) faults.add(`${place}.id`, `the tier ${id} is listed twice`)
    seen.add(id)
    if (!file) continue
    const tier = readTier(file, place, models, faults)
    if (tier.candidates.length > 0) offered.set(id, tier)
    else notOffered.push(id)
  }
  return { offered, notOffered }
}

function readTier(file: TierFile, place: string, models: ModelList, faults: FaultList): Tier {
  if (!STRATEGIES.some((strategy) => strategy === file.strategy)) {
    faults.add(`${place}.strategy`, `expected one of ${STRATEGIES.join(', ')}`)
  }
  const candidates: Model[] = []
  for (const [index, id] of file.candidates.entries()) {
    if (!models.known.has(id)) faults.add(`${place}.candidates[${index}]`, `there is no model ${id}`)
    const model = models.offered.get(id)
    if (!model) continue
    if (model.kind === 'chat') candidates.push(model)
    else faults.add(`${place}.candidates[${index}]`, `${id} ${cannotConverse(model.kind)}`)
  }
  return {
    id: file.id,
    aliases: file.aliases ?? [],
    name: file.name,
    created: file.created ?? Math.max(0, ...candidates.map((model) => model.created)),
    contextLength: file.contextLength,
    strategy: file.strategy,
    weights: new Map(Object.entries(file.weights ?? {})),
    observe: file.observe ?? DEFAULT_OBSERVED_SHARE,
    candidates,
  }
}
