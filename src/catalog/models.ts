import { FORMATS } from '@/formats/index'
import { utcDayOf } from '@/lib/clock'
import { isJsonObject } from '@/lib/json'
import { NANO_PER_USD, type Nano, nano } from '@/lib/money'
import type { AnyModelFile } from './any-model-file'
import { checkPart, type FaultList } from './check'
import { readDataTerms } from './data-terms'
import { checkEmbedders, checkTalkers, asModelFile as ofEmbedding } from './embedding-models'
import { cannotConverse, checkSold, asModelFile as ofMedia } from './media-models'
import { checkMediaTargets } from './media-targets'
import { readModelCost, readPricing, readTargetCost } from './pricing'
import { EmbeddingModelSchema, MediaModelSchema, ModelSchema, type ToolPricesFile } from './schema'
import {
  MEDIA_KINDS,
  type Model,
  type Pricing,
  type Provider,
  type Target,
  type ToolPrice,
  type ToolPrices,
} from './types'

const KNOWN: ReadonlySet<string> = new Set([...FORMATS.values()].flatMap(({ serverTools }) => serverTools))

export type ModelList = {
  known: ReadonlySet<string>
  /** Models with a target whose provider has a key, in the file's order. */
  offered: Map<string, Model>
  notOffered: string[]
}

/** The factor for models that state none. Vocabularies of other vendors need up to twice as many tokens for a text. */
const DEFAULT_TOKENIZER_SAFETY_FACTOR = 2

const SLUG = '[A-Za-z0-9][A-Za-z0-9._-]{0,127}'

/** Reads the catalogue's models: ids, targets, prices, fallbacks, and which can be offered. `providers`: undefined for invalid entries. */
export function readModels(
  entries: readonly unknown[],
  service: string,
  providers: ReadonlyMap<string, Provider | undefined>,
  faults: FaultList,
): ModelList {
  const known = new Set<string>()
  const idPattern = new RegExp(`^${service}/${SLUG}$`)
  const files: { file: AnyModelFile; place: string }[] = []
  for (const [index, entry] of entries.entries()) {
    const place = `models[${index}]`
    const file = checkModel(entry, place, faults)
    const id = (entry as { id?: unknown } | null)?.id
    if (typeof id !== 'string') continue
    if (service !== '' && !idPattern.test(id)) {
      faults.add(`${place}.id`, `expected ${service}/ and a word of letters, digits, . _ and -`)
    }
    if (known.has(id)) faults.add(`${place}.id`, `the model ${id} is listed twice`)
    known.add(id)
    if (file) files.push({ file, place })
  }
  for (const [index, entry] of entries.entries()) checkReferences(entry, `models[${index}]`, known, providers, faults)
  checkKinds(files, providers, faults)
  const models = files.map(({ file, place }) => readModel(file, place, providers, faults))
  const offered = new Map(models.filter((model) => model.targets.length > 0).map((model) => [model.id, model]))
  for (const model of offered.values()) model.fallback = model.fallback.filter((id) => offered.has(id))
  return { known, offered, notOffered: models.map((model) => model.id).filter((id) => !offered.has(id)) }
}

function checkModel(entry: unknown, place: string, faults: FaultList): AnyModelFile | undefined {
  const kind = isJsonObject(entry) ? entry.kind : undefined
  if (kind === 'embedding') {
    const file = checkPart(EmbeddingModelSchema, entry, place, faults)
    return file && ofEmbedding(file)
  }
  if (!MEDIA_KINDS.some((one) => one === kind)) return checkPart(ModelSchema, entry, place, faults)
  const file = checkPart(MediaModelSchema, entry, place, faults)
  return file && ofMedia(file)
}

/** A fallback must have the model's own kind and be available. */
function checkKinds(
  files: readonly { file: AnyModelFile; place: string }[],
  providers: ReadonlyMap<string, Provider | undefined>,
  faults: FaultList,
): void {
  const kinds = new Map(files.map(({ file }) => [file.id, file.kind ?? 'chat']))
  for (const { file, place } of files) {
    const { kind = 'chat' } = file
    checkSold(file, place, faults)
    if (kind === 'embedding') checkEmbedders(file, place, providers, faults)
    if (kind === 'chat') checkTalkers(file, place, providers, faults)
    checkMediaTargets(file, place, providers, faults)
    for (const [index, id] of (file.fallback ?? []).entries()) {
      const other = kinds.get(id) ?? 'chat'
      if (other !== 'chat') faults.add(`${place}.fallback[${index}]`, `${id} ${cannotConverse(other)}`)
    }
  }
}

/** Reports names that don't exist, also in entries with other faults, so that all faults appear together. */
function checkReferences(
  entry: unknown,
  place: string,
  known: ReadonlySet<string>,
  providers: ReadonlyMap<string, Provider | undefined>,
  faults: FaultList,
): void {
  if (!isJsonObject(entry)) return
  const { id: own, fallback, targets } = entry
  for (const [index, id] of (Array.isArray(fallback) ? fallback : []).entries()) {
    if (typeof id !== 'string') continue
    if (!known.has(id)) faults.add(`${place}.fallback[${index}]`, `there is no model ${id}`)
    else if (id === own) faults.add(`${place}.fallback[${index}]`, 'a model cannot be its own fallback')
  }
  for (const [index, target] of (Array.isArray(targets) ? targets : []).entries()) {
    const name = isJsonObject(target) ? target.provider : undefined
    if (typeof name !== 'string' || providers.has(name)) continue
    faults.add(`${place}.targets[${index}].provider`, `there is no provider ${name}`)
  }
}

function readModel(
  file: AnyModelFile,
  place: string,
  providers: ReadonlyMap<string, Provider | undefined>,
  faults: FaultList,
): Model {
  if (file.maxOutputTokens > file.contextLength) {
    faults.add(`${place}.maxOutputTokens`, 'must not exceed contextLength')
  }
  if (file.expirationDate !== undefined && !isDay(file.expirationDate)) {
    faults.add(`${place}.expirationDate`, 'expected a day such as 2027-01-31')
  }
  const cost = readModelCost(file.pricing, `${place}.pricing`, faults)
  return {
    id: file.id,
    aliases: file.aliases ?? [],
    kind: file.kind ?? 'chat',
    name: file.name,
    created: file.created,
    ownedBy: file.ownedBy,
    targets: readTargets(file, cost, place, providers, faults),
    pricing: readPricing(file.pricing, `${place}.pricing`, faults),
    contextLength: file.contextLength,
    maxOutputTokens: file.maxOutputTokens,
    capabilities: new Set(file.capabilities),
    fallback: [...new Set(file.fallback)],
    ...(file.expirationDate !== undefined && { expirationDate: file.expirationDate }),
    ...(file.quality !== undefined && { quality: file.quality }),
    ...(file.batchDiscount !== undefined && file.batchDiscount < 1 && { batchDiscount: file.batchDiscount }),
    tokenizerSafetyFactor: file.tokenizerSafetyFactor ?? DEFAULT_TOKENIZER_SAFETY_FACTOR,
  }
}

/** Whether the text is an existing calendar day. */
function isDay(text: string): boolean {
  const atMs = Date.parse(text)
  return !Number.isNaN(atMs) && utcDayOf(atMs) === text
}

/** Targets whose provider has a key, with the provider's quirks. A target without its own `cost` and tool prices has the model's. */
function readTargets(
  { targets: entries, pricing }: AnyModelFile,
  cost: Pricing | undefined,
  place: string,
  providers: ReadonlyMap<string, Provider | undefined>,
  faults: FaultList,
): Target[] {
  const targets: Target[] = []
  const modelTools = readToolPrices(pricing.toolPrices, `${place}.pricing.toolPrices`, faults)
  for (const [index, entry] of entries.entries()) {
    const at = `${place}.targets[${index}]`
    const own = entry.cost && readTargetCost(entry.cost, pricing, `${at}.cost`, faults)
    const known = own ?? cost
    for (const name of entry.serviceTiers ?? []) {
      if (pricing.serviceTiers?.[name]) continue
      faults.add(`${at}.serviceTiers`, `${name} has no price in the model's pricing.serviceTiers`)
    }
    const tools = entry.toolPrices ? readToolPrices(entry.toolPrices, `${at}.toolPrices`, faults) : modelTools
    const provider = providers.get(entry.provider)
    if (!provider || provider.keys.length === 0) continue
    const quirks = new Set([...provider.quirks, ...(entry.quirks ?? [])])
    const toolPrices = pricesAt(provider, tools)
    const data = readDataTerms(entry, provider.data)
    const serviceTiers = tiersAt(provider, entry.serviceTiers ?? Object.keys(pricing.serviceTiers ?? {}))
    targets.push({
      provider,
      model: entry.model,
      quirks,
      ...(entry.family !== undefined && { family: entry.family }),
      ...(entry.weight !== undefined && { weight: entry.weight }),
      ...(known && { cost: known }),
      ...(serviceTiers && { serviceTiers }),
      ...(toolPrices && { toolPrices }),
      ...(Object.keys(data).length > 0 && { data }),
    })
  }
  return targets
}

function readToolPrices(file: ToolPricesFile | undefined, place: string, faults: FaultList): ToolPrices {
  const prices = new Map<string, ToolPrice>()
  for (const [name, entry] of Object.entries(file ?? {})) {
    const at = `${place}.${name}`
    if (!KNOWN.has(name)) faults.add(at, `is no tool of any format; expected one of ${[...KNOWN].join(', ')}`)
    const stated = typeof entry === 'number' ? { usd: entry } : entry
    const { usd, costUsd, per = 'use', ...limits } = stated
    const cost = costUsd === undefined ? {} : { cost: toNano(costUsd, at, faults) }
    prices.set(name, { price: toNano(usd, at, faults), ...cost, per, ...limits })
  }
  return prices
}

function pricesAt(provider: Provider, prices: ToolPrices): ToolPrices | undefined {
  const own = FORMATS.get(provider.format)?.serverTools ?? []
  const meant = [...prices].filter(([name]) => own.includes(name))
  return meant.length > 0 ? new Map(meant) : undefined
}

function tiersAt({ dialect }: Provider, names: readonly string[]): ReadonlySet<string> | undefined {
  return dialect.hasServiceTiers && names.length > 0 ? new Set(names) : undefined
}

function toNano(usd: number, place: string, faults: FaultList): Nano {
  const amount = Math.round(usd * NANO_PER_USD)
  if (Math.abs(amount / NANO_PER_USD - usd) > usd * 1e-12) faults.add(place, 'is finer than 0.000000001 USD')
  return nano(amount)
}
