/** Lists the differences between two catalogues for an operator, and hashes catalogues. */
import { plainEndpoint } from '@/catalog/dialects/read-dialect'
import { sha256Hex } from '@/lib/ids'
import { formatPrice } from '@/lib/money'
import { CLASS_WORDS, linePrice } from './losses'
import { unitName } from './price-line-file'
import type { Catalog, Model, PriceList, Pricing, Provider, Target, Tier } from './types'

/** One changed fact. `before` or `after` is null if the fact did not or will not exist. */
export type Change = { what: string; before: string | null; after: string | null }

const HASH_CHARS = 16
const DIGEST_CHARS = 12

/** Every fact that differs, grouped by model. Secrets appear as digests. */
export function changesBetween(before: Catalog, after: Catalog): Change[] {
  const [old, next] = [factsOf(before), factsOf(after)]
  const changes = [...new Set([...old.keys(), ...next.keys()])]
    .filter((what) => old.get(what) !== next.get(what))
    .sort()
    .map((what) => ({ what, before: old.get(what) ?? null, after: next.get(what) ?? null }))
  return [
    ...changes,
    ...reordered('models', before.models, after.models),
    ...reordered('tiers', before.tiers, after.tiers),
  ]
}

/** A hash of all facts and their order. `isSandboxed`: all addresses are the sandbox's and are left out. */
export function hashCatalog(catalog: Catalog, isSandboxed: boolean): string {
  const facts = [...factsOf(catalog)].filter(([what]) => !isSandboxed || !ADDRESS.test(what))
  const order = [catalog.providers, catalog.models, catalog.tiers].map((list) => [...list.keys()])
  return sha256Hex(JSON.stringify([facts.sort(([one], [other]) => (one < other ? -1 : 1)), order])).slice(0, HASH_CHARS)
}

/** The change of the entries' order; none if an entry was added or removed. */
function reordered(what: string, before: ReadonlyMap<string, unknown>, after: ReadonlyMap<string, unknown>): Change[] {
  const [old, next] = [[...before.keys()], [...after.keys()]]
  const isSame = old.length === next.length && old.every((id) => after.has(id))
  if (!isSame || old.every((id, index) => id === next[index])) return []
  return [{ what: `order of ${what}`, before: old.join(', '), after: next.join(', ') }]
}

const ADDRESS = /^provider \S+ address$/

function factsOf({ service, providers, models, tiers, limits }: Catalog): Map<string, string> {
  const facts = new Map<string, string>([['service', service]])
  for (const [name, value] of Object.entries(limits)) facts.set(`limits ${name}`, String(value))
  for (const provider of providers.values()) addProvider(facts, provider)
  for (const model of models.values()) addModel(facts, model)
  for (const tier of tiers.values()) addTier(facts, tier)
  return facts
}

function addProvider(facts: Map<string, string>, provider: Provider): void {
  const about = `provider ${provider.name}`
  const { format, dialect, baseUrl } = provider
  facts.set(`${about} address`, `${format}${dialect.name ? ` by ${dialect.name}` : ''} ${baseUrl}`)
  // Omitted if it is the format's default, so that gateways of different versions agree.
  if (dialect.credential !== plainEndpoint(format).credential) {
    facts.set(`${about} key header`, dialect.credential ? wordsOf(dialect.credential) : 'none')
  }
  // Digests show that a key was replaced, but not the key.
  facts.set(
    `${about} keys`,
    provider.keys.map(({ id, weight }) => (weight === 1 ? id : `${id} of weight ${weight}`)).join(', '),
  )
  const headers = Object.entries(provider.headers).map(([name, value]) => `${name} ${digest(value)}`)
  facts.set(`${about} headers`, headers.sort().join(', '))
  facts.set(`${about} version`, provider.apiVersion ?? 'the usual')
  facts.set(`${about} timeouts`, wordsOf(provider.timeouts))
  facts.set(
    `${about} calls in flight`,
    Number.isFinite(provider.maxConcurrency) ? String(provider.maxConcurrency) : 'no limit',
  )
  facts.set(`${about} on disconnect`, wordsOf(provider.onDisconnect))
  facts.set(`${about} quirks`, listOf(provider.quirks))
  facts.set(`${about} passed fields`, listOf(provider.passFields))
  facts.set(`${about} beta interfaces`, provider.betas ? listOf(provider.betas) : 'the usual')
}

function addModel(facts: Map<string, string>, model: Model): void {
  const { id, targets, contextLength, maxOutputTokens, capabilities, fallback } = model
  facts.set(`model ${id} listing`, `${model.kind} ${model.name}, by ${model.ownedBy}, since ${model.created}`)
  addAliases(facts, `model ${id}`, model)
  facts.set(`model ${id} context`, `${contextLength} tokens, ${maxOutputTokens} of output`)
  facts.set(`model ${id} capabilities`, listOf(capabilities))
  facts.set(`model ${id} fallback`, fallback.join(', '))
  if (model.expirationDate !== undefined) facts.set(`model ${id} expires`, model.expirationDate)
  facts.set(`model ${id} quality`, model.quality === undefined ? 'not stated' : String(model.quality))
  facts.set(`model ${id} tokenizer safety factor`, String(model.tokenizerSafetyFactor))
  facts.set(`model ${id} targets`, targets.map((target) => `${target.provider.name}:${target.model}`).join(', '))
  addPrices(facts, `model ${id} price`, model.pricing)
  for (const target of targets) addTarget(facts, id, target)
}

function addTarget(
  facts: Map<string, string>,
  id: string,
  { provider, model: name, family, quirks, weight, cost, toolPrices, serviceTiers, data }: Target,
): void {
  const at = `at ${provider.name}:${name}`
  facts.set(`model ${id} quirks ${at}`, listOf(quirks))
  if (family !== undefined) facts.set(`model ${id} family ${at}`, family)
  if (weight !== undefined) facts.set(`model ${id} weight ${at}`, String(weight))
  if (data) facts.set(`model ${id} data ${at}`, wordsOf(data))
  if (cost) addPrices(facts, `model ${id} cost ${at}`, cost)
  if (serviceTiers) facts.set(`model ${id} service tiers ${at}`, listOf(serviceTiers))
  for (const [tool, { price, cost: ours, per, ...bounds }] of toolPrices ?? []) {
    const reserved = wordsOf(bounds)
    const costs = ours === undefined ? '' : `, costs ${ours}`
    facts.set(`model ${id} tool ${tool} ${at}`, `${price} nano-USD per ${per}${costs}${reserved && `, ${reserved}`}`)
  }
}

function addTier(facts: Map<string, string>, { id, strategy, candidates, weights, observe, ...tier }: Tier): void {
  facts.set(`tier ${id}`, `${strategy}: ${candidates.map((model) => model.id).join(', ')}`)
  addAliases(facts, `tier ${id}`, tier)
  facts.set(`tier ${id} listing`, `${tier.name}, since ${tier.created}`)
  facts.set(`tier ${id} context`, `${tier.contextLength} tokens`)
  facts.set(`tier ${id} weights`, wordsOf(Object.fromEntries(weights)) || 'the usual')
  facts.set(`tier ${id} observed share`, String(observe))
}

function addAliases(facts: Map<string, string>, what: string, { aliases }: Pick<Model, 'aliases'>): void {
  if (aliases.length > 0) facts.set(`${what} aliases`, aliases.join(', '))
}

function wordsOf(values: object): string {
  return Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name} ${value}`)
    .sort()
    .join(', ')
}

function listOf(words: ReadonlySet<string>): string {
  return [...words].sort().join(', ')
}

function digest(secret: string): string {
  return sha256Hex(secret).slice(0, DIGEST_CHARS)
}

function addPrices(facts: Map<string, string>, what: string, pricing: Pricing): void {
  addList(facts, what, pricing)
  for (const [tier, list] of pricing.serviceTiers ?? []) addList(facts, `${what} of ${tier}`, list)
}

function addList(facts: Map<string, string>, what: string, { base, steps, lines = [] }: PriceList): void {
  for (const line of lines) facts.set(`${what} ${unitName(line)}`, `$${linePrice(line)}`)
  const lists = [
    { above: '', prices: base },
    ...steps.map((step) => ({ above: ` above ${step.aboveInputTokens}`, prices: step.prices })),
  ]
  for (const { above, prices } of lists) {
    for (const name of Object.keys(CLASS_WORDS) as (keyof typeof CLASS_WORDS)[]) {
      facts.set(`${what} ${CLASS_WORDS[name]}${above}`, `$${formatPrice(prices[name])}`)
    }
  }
}
